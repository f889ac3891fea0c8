// A stored policy may not be read any more: its row is damaged, or another program wrote it.
import { beforeEach, describe, expect, it } from "vitest";
import { INITIAL_POLICY, UNREADABLE } from "../decision/policy.ts";
import { callApi, type CallOptions, faultsOf, type TestPorts, testPorts, TOKENS } from "./testing.ts";

const SILENT = `version 1 is in force and offers nothing, as it ${UNREADABLE}`;

/** Version 1 cannot be read, and is in force. Version 2 can be read. */
let ports: TestPorts;
beforeEach(async () => {
  ports = await testPorts();
  ports.store.unreadableVersions.add(1);
  await ports.store.create({ policy: INITIAL_POLICY, author: "setup", note: null });
});
const call = (method: string, resource: string, options?: CallOptions) => callApi(ports, method, resource, options);
const put = (body: object) => call("PUT", "activation", { body, ifMatch: "*" });

describe("in force", () => {
  it("health says so, once for each version", async () => {
    const health = await call("GET", "health", { token: "" });
    expect([health.status, health.json]).toEqual([
      503,
      expect.objectContaining({ status: "degraded", policy: "unreadable", revision: 1, problems: [SILENT] }),
    ]);
    ports.store.unreadableVersions.clear();
    await put({ everyone: 1, stages: [0.1, 0.2].map((share) => ({ version: 2, share })) });
    ports.store.unreadableVersions.add(1).add(2);
    const { problems } = (await call("GET", "health", { token: "" })).json as { problems: string[] };
    expect(problems).toEqual([SILENT, SILENT.replace("version 1", "version 2")]);
  });

  it("no decision is made by it, and it is said why", async () => {
    const asked = await call("POST", "decisions", { body: { paths: [{ transport: "tcp" }] }, token: TOKENS.read });
    expect([asked.status, asked.json["detail"]]).toEqual([503, SILENT]);
    const explained = await call("POST", "decisions/explain", { body: { request: { transport: "tcp" } } });
    expect([explained.status, explained.json["detail"]]).toEqual([
      503,
      `${SILENT}. Send a policy along, or activate another version`,
    ]);
  });

  it("another takes its place", async () => {
    expect((await put({ everyone: 2 })).status).toBe(200);
    expect((await call("GET", "health")).status).toBe(200);
  });

  it("the kill switch goes on and off", async () => {
    const on = await call("PUT", "activation/kill-switch", { body: { kind: "clear" }, ifMatch: "*" });
    const off = await call("DELETE", "activation/kill-switch", { ifMatch: "*" });
    expect([on.status, off.status]).toEqual([200, 200]);
  });
});

describe("stored", () => {
  beforeEach(async () => {
    await put({ everyone: 2 });
  });

  it("to activate it is refused, at each place that names it", async () => {
    const reply = await put({
      everyone: 1,
      stages: [
        { version: 7, share: 0.1 },
        { version: 1, share: 0.2 },
      ],
    });
    expect([reply.status, faultsOf(reply)]).toEqual([
      422,
      [
        `/everyone: version 1 ${UNREADABLE}`,
        "/stages/0/version: there is no version 7",
        `/stages/1/version: version 1 ${UNREADABLE}`,
      ],
    ]);
    expect(ports.store.current).toMatchObject({ everyone: 2, stages: [] });
  });

  it("to roll back to it is refused", async () => {
    const reply = await call("POST", "activation/rollback", { ifMatch: "*" });
    expect([reply.status, reply.json["detail"]]).toEqual([409, `version 1 ${UNREADABLE}`]);
    expect(ports.store.current).toMatchObject({ everyone: 2 });
  });

  it("is in lists, and is shown without its policy", async () => {
    expect((await call("GET", "policies")).json["policies"]).toMatchObject([{ version: 2 }, { version: 1 }]);
    expect((await call("GET", "policies/1")).json).toMatchObject({ version: 1, author: "setup", policy: null });
    expect((await call("GET", "activation/history")).status).toBe(200);
    expect((await call("GET", "audit")).status).toBe(200);
  });

  it("nothing is compared with it or explained by it", async () => {
    const diff = await call("GET", "policies/1/diff/2");
    expect([diff.status, diff.json["detail"]]).toEqual([422, `version 1 ${UNREADABLE}`]);
    const body = { request: { transport: "tcp" }, version: 1 };
    const explained = await call("POST", "decisions/explain", { body });
    expect([explained.status, faultsOf(explained)]).toEqual([422, [`/version: ${UNREADABLE}`]]);
  });
});
