// Only here: the edge gives the worker each caller's address, and a real disk and real output hold no secret.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { request } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import cubic from "../../policy-api/policies/cubic.json" with { type: "json" };
import { tokenEntry } from "../../policy-api/api/tokens.ts";
import { startTestSystem, type TestSystem, until } from "./harness.ts";
import { rowsOnDisk } from "./objects.ts";

// Tokens like those of `npm run policy -- token`: so long that no file contains one by chance.
const WRITE = "w-hJ0pYc2m7QvZxT4sRk9LbNfEaUdGiOwXqPzM1tS8uV5";
const READ = "r-Kq3eB6yHn1WcXo8RvJ5tFzL0sDgMpUiA9lQbN2hTkY7";
const WRONG = "x-Vd4nS7aGf2ZtPw9KxC6uRjM1yEiLoQhB0mUbN3gTlW8";

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The whole reply as text. */
  readonly said: string;
}

/** Calls a system over TLS, as callers do, from a chosen address, and keeps all replies. */
class Callers {
  readonly said: string[] = [];
  readonly #system: TestSystem;
  readonly #ca: Buffer;

  constructor(system: TestSystem) {
    this.#system = system;
    this.#ca = readFileSync(join(system.stateDir, "dev-cert.pem"));
  }

  async call(
    from: string,
    authorization: string | undefined,
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply> {
    const calling = request({
      host: "127.0.0.1",
      servername: "localhost",
      port: this.#system.port,
      ca: this.#ca,
      localAddress: from,
      method,
      path,
      headers: { host: `localhost:${this.#system.port}`, ...(authorization && { authorization }), ...headers },
      agent: false,
    });
    calling.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = (await once(calling, "response")) as [IncomingMessage];
    const said = await text(response);
    this.said.push(JSON.stringify(response.headers) + said);
    return { status: response.statusCode ?? 0, headers: response.headers, said };
  }
}

async function start(): Promise<{ system: TestSystem; callers: Callers; printed: string[] }> {
  const printed: string[] = [];
  const tokens = await Promise.all([tokenEntry("ops", "write", WRITE), tokenEntry("dashboard", "read", READ)]);
  const system = await startTestSystem({
    variables: { POLICY_TOKENS: tokens.join("\n"), LOG_DECISIONS: "on", OBJECTS_PER_REGION: "1", BUDGET_MS: "200" },
    onWorkerLine: (line) => printed.push(line),
    onErrorLine: (line) => printed.push(line),
  });
  return { system, callers: new Callers(system), printed };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { security?: unknown; responses: object }>>>>;
}

it("each operation of the document needs a token, and a change needs scope write", async () => {
  const { callers } = await start();
  const { said } = await callers.call("127.0.5.1", undefined, "GET", "/_h3/v1/openapi.json");
  const operations = Object.entries((JSON.parse(said) as Document).paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, { security }]) => ({
      method: method.toUpperCase(),
      path: template.replaceAll(/\{\w+\}/g, "0"),
      open: security === undefined,
    })),
  );
  expect(operations.filter(({ open }) => open).map(({ path }) => path)).toEqual(["/_h3/v1/health"]);
  const writing: string[] = [];
  for (const [i, { method, path, open }] of operations.entries()) {
    const from = `127.0.5.${2 + i}`;
    if (open) {
      expect((await callers.call(from, undefined, method, path)).status).toBe(200);
      continue;
    }
    for (const [authorization, challenge] of [
      [undefined, /^Bearer realm="[^"]+"$/],
      ["Bearer", /^Bearer realm="[^"]+"$/],
      ["Basic dXNlcjpwYXNz", /^Bearer realm="[^"]+"$/],
      [`Bearer ${WRONG}`, /error="invalid_token"/],
      // A part of the right token, and the right token with more behind it.
      [`Bearer ${WRITE.slice(0, -1)}`, /error="invalid_token"/],
      [`Bearer ${WRITE}0`, /error="invalid_token"/],
      [`Bearer ${createHash("sha256").update(WRITE).digest("hex")}`, /error="invalid_token"/],
    ] as const) {
      const refused = await callers.call(from, authorization, method, path, method === "GET" ? undefined : {});
      expect([refused.status, refused.headers["content-type"]]).toEqual([401, "application/problem+json"]);
      expect(refused.headers["www-authenticate"]).toMatch(challenge);
    }
    // Without If-Match or a body the call changes nothing. This tests only whether the token lets the call get that far.
    const read = await callers.call(from, `Bearer ${READ}`, method, path);
    if (read.status === 403) {
      writing.push(`${method} ${path}`);
      expect(read.headers["www-authenticate"]).toContain('error="insufficient_scope"');
    } else expect([200, 400, 422]).toContain(read.status);
    const write = await callers.call(from, `bearer ${WRITE}`, method, path);
    expect([200, 400, 422, 428]).toContain(write.status);
  }
  expect(writing.sort()).toEqual([
    "DELETE /_h3/v1/activation/kill-switch",
    "POST /_h3/v1/activation/rollback",
    "POST /_h3/v1/clients/forget",
    "POST /_h3/v1/policies",
    "PUT /_h3/v1/activation",
    "PUT /_h3/v1/activation/kill-switch",
  ]);
});

it("after ten wrong tokens an address waits for the rest of the minute with further wrong ones, never with a valid one", async () => {
  const { callers } = await start();
  const read = (from: string, token: string | undefined): Promise<Reply> =>
    callers.call(from, token && `Bearer ${token}`, "GET", "/_h3/v1/activation");
  // A call without a token does not count as an attempt.
  for (let i = 0; i < 12; i++) expect((await read("127.0.6.1", undefined)).status).toBe(401);
  for (let i = 0; i < 9; i++) expect((await read("127.0.6.1", WRONG + i)).status).toBe(401);
  expect((await read("127.0.6.1", READ)).status).toBe(200);
  expect((await read("127.0.6.1", WRONG)).status).toBe(401);
  for (const token of [WRONG, `${READ}x`]) {
    const refused = await read("127.0.6.1", token);
    expect(refused.status).toBe(429);
    expect(refused.headers["content-type"]).toBe("application/problem+json");
    expect(refused.headers["retry-after"]).toMatch(/^([1-9]|[1-5]\d|60)$/);
  }
  const kill = (): Promise<Reply> =>
    callers.call(
      "127.0.6.1",
      `Bearer ${WRITE}`,
      "PUT",
      "/_h3/v1/activation/kill-switch",
      { kind: "clear" },
      { "if-match": "*" },
    );
  expect((await kill()).status).toBe(200);
  for (const address of ["127.0.6.1", "127.0.6.2"])
    for (const token of [READ, WRITE]) expect((await read(address, token)).status).toBe(200);
  expect((await read("127.0.6.2", WRONG)).status).toBe(401);
  // The edge overwrites headers in which a caller names another address.
  const forged = { "cf-connecting-ip": "127.0.6.2", "x-forwarded-for": "127.0.6.2" };
  const again = await callers.call("127.0.6.1", `Bearer ${WRONG}`, "GET", "/_h3/v1/activation", undefined, forged);
  expect(again.status).toBe(429);
  expect((await callers.call("127.0.6.1", undefined, "GET", "/_h3/v1/health")).status).toBe(200);
});

it("no token, hash of a token or address is in replies, in workerd's output or on its disk", async () => {
  const { system, callers, printed } = await start();
  const visitor = "127.0.7.77";
  const note = "a note that is to be found";
  const write = (method: string, resource: string, body?: unknown): Promise<Reply> =>
    callers.call("127.0.7.1", `Bearer ${WRITE}`, method, `/_h3/v1/${resource}`, body, { "if-match": "*" });
  expect((await write("POST", "policies", { policy: cubic, note })).status).toBe(201);
  expect((await write("PUT", "activation", { everyone: 1, note })).status).toBe(200);
  // A visitor that the objects remember, and for whom the worker decides.
  await callers.call(visitor, undefined, "GET", "/image/1000000");
  await until("the visitor's row", () => rowsOnDisk(system.stateDir).clients[0]);
  const page = await callers.call(visitor, undefined, "GET", "/", undefined, { "sec-fetch-dest": "document" });
  expect(page.status).toBe(200);
  await until("the decision's line", () => printed.find((line) => line.includes('"decision"')));
  for (const address of [visitor, "203.0.113.77", "2001:db8:77::77", "203.0.113.77x"]) {
    for (const resource of ["clients/look-up", "clients/forget"]) await write("POST", resource, { address });
    await write("POST", "decisions", { paths: [{ transport: "tcp", clientAddress: address }] });
    await write("POST", "decisions/explain", { client: address });
    await write("POST", "decisions/explain", { client: address, history: { state: "known" } });
  }
  await callers.call("127.0.7.2", `Bearer ${READ}`, "PUT", "/_h3/v1/activation", { everyone: 0 });
  for (let i = 0; i < 11; i++) await callers.call("127.0.7.3", `Bearer ${WRONG}`, "GET", "/_h3/v1/audit");
  for (const resource of ["audit", "activation/history", "policies", "health", "openapi.json", "reference", "none"])
    await write("GET", resource);
  await callers.call("127.0.7.4", `Bearer ${READ}`, "GET", "/_h3/v1/activation", undefined, {
    "cf-connecting-ip": "203.0.113.77",
  });
  await system.stop();

  const secrets = [WRITE, READ, WRONG].flatMap((token) => {
    const hash = createHash("sha256").update(token).digest();
    return [token, hash.toString("hex"), hash.toString("base64").slice(0, 40), hash.toString("base64url").slice(0, 40)];
  });
  const addresses = ["127.0.7.", "203.0.113.", "2001:db8:77:"];
  const files = filesUnder(join(system.stateDir, "objects"));
  const stores = files.map((file) => readFileSync(file).toString("latin1")).join("\n");
  // The search works: it finds the note on disk, and the decision in the output.
  expect(stores).toContain(note);
  expect(stores).toContain("client ");
  expect(callers.said.join("\n")).toContain(note);
  expect(printed.join("\n")).toContain('"decision"');
  for (const [where, what] of [
    ["a reply", callers.said.join("\n")],
    ["what was printed", printed.join("\n")],
    ["the disk", stores],
  ] as const) {
    for (const secret of secrets)
      expect(what.toLowerCase().includes(secret.toLowerCase()), `${where}: ${secret}`).toBe(false);
    for (const address of addresses) expect(what.includes(address), `${where}: ${address}`).toBe(false);
  }
});

it("a refusal leaves the connection open, even if a part of the call is still on its way", async () => {
  const { system } = await start();
  const socket = connect(system.workerd.visitorsSocket);
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  const closed = once(socket, "close").then(() => {
    throw new Error("the connection was closed");
  });
  closed.catch(() => undefined);
  const body = '{"address":"192.0.2.7"}';
  // If a part of a body is left unread, workerd closes the connection: at once, or without notice during the next call.
  for (let i = 0; i < 5; i++) {
    socket.write(
      `POST /_h3/v1/clients/forget HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${WRONG}\r\n` +
        `Content-Length: ${body.length}\r\n\r\n`,
    );
    await sleep(20);
    socket.write(body);
    const [reply] = (await Promise.race([once(socket, "data"), closed])) as [Buffer];
    expect(reply.toString()).toMatch(/^HTTP\/1.1 401 /);
    expect(reply.toString().toLowerCase()).not.toContain("connection: close");
  }
});

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
