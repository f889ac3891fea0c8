import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ATTEMPTS_MAX } from "./failed-attempts.ts";
import { CALLS, callApi, type Reply, type TestPorts, testPorts, TOKENS, tokensOf } from "./testing.ts";

let ports: TestPorts;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  ports = await testPorts();
});
afterEach(() => {
  vi.useRealTimers();
});
const later = (ms: number): void => void vi.setSystemTime(Date.now() + ms);
const state = async (): Promise<unknown> => [
  await ports.store.audit({ limit: 100 }),
  await ports.store.activation(),
  ports.changes,
  [...ports.clients.calls],
];

describe("who may call", () => {
  const refused: [string, string, number, string][] = [
    ["no token", "", 401, "send a token: Authorization: Bearer <token>"],
    ["a wrong token", "wrong", 401, "this token is not known"],
    ["the beginning of a right one", TOKENS.write.slice(0, -3), 401, "this token is not known"],
    ["more than a right one", `${TOKENS.read}x`, 401, "this token is not known"],
    ["a right one in capitals", TOKENS.read.toUpperCase(), 401, "this token is not known"],
    ["what is no token", "a b", 401, "send a token: Authorization: Bearer <token>"],
    ["the name of one", "ann", 401, "this token is not known"],
  ];
  it.each(refused)("%s: nothing is shown and nothing is done", async (_name, token, status, detail) => {
    const before = await state();
    for (const { method, resource, ...options } of CALLS) {
      const reply = await callApi(ports, method, resource, { ...options, token });
      expect([resource, reply.status, reply.json["detail"]]).toEqual([resource, status, detail]);
      expect(reply.headers.get("www-authenticate")).toMatch(/^Bearer realm="adaptive-h3"(, error="invalid_token")?$/);
      expect(Object.keys(reply.json).toSorted()).toEqual(["detail", "status", "type"]);
    }
    expect(await state()).toEqual(before);
  });

  it("who may only read may not write", async () => {
    const before = await state();
    for (const { method, resource, scope, status, ...options } of CALLS) {
      const reply = await callApi(ports, method, resource, { ...options, token: TOKENS.read });
      expect([resource, reply.status]).toEqual([resource, scope === "write" ? 403 : status]);
      if (scope === "read") continue;
      expect(reply.json["detail"]).toBe("the token bob may read only");
      expect(reply.headers.get("www-authenticate")).toContain('error="insufficient_scope"');
    }
    const [audit, activation, changes] = (await state()) as unknown[];
    expect([audit, activation, changes]).toEqual((before as unknown[]).slice(0, 3));
    expect(ports.clients.calls.filter((call) => call.startsWith("forget"))).toEqual([]);
  });

  it("nobody, where no token is configured", async () => {
    ports.tokens = [];
    for (const token of ["", "undefined", "null", "wrong", TOKENS.write])
      for (const { method, resource, ...options } of CALLS) {
        const reply = await callApi(ports, method, resource, { ...options, token });
        expect([resource, reply.status]).toEqual([resource, 403]);
        expect(reply.json["detail"]).toContain("POLICY_TOKENS");
      }
  });

  it("needs no token: health, and what describes the API", async () => {
    for (const tokens of [ports.tokens, []]) {
      ports.tokens = tokens;
      for (const resource of ["health", "openapi.json", "reference"])
        for (const token of ["", "wrong", TOKENS.read])
          expect([resource, (await callApi(ports, "GET", resource, { token })).status]).toEqual([resource, 200]);
    }
  });

  it.each([
    ["Bearer", TOKENS.read, 200],
    ["bearer", TOKENS.read, 200],
    ["BEARER  ", TOKENS.read, 200],
    ["Basic", TOKENS.read, 401],
    ["Token", TOKENS.read, 401],
    ["", TOKENS.read, 401],
    ["Bearer", `${TOKENS.read} ${TOKENS.read}`, 401],
    ["Bearer", `"${TOKENS.read}"`, 401],
    ["Bearer", `=${TOKENS.read}`, 401],
  ])("by the scheme %j, with %j: %i", async (scheme, token, status) => {
    const headers = { authorization: `${scheme} ${token}`.trim() };
    expect((await callApi(ports, "GET", "activation", { token: "", headers })).status).toBe(status);
  });

  it.each(["query", "cookie"])("not by a %s", async (place) => {
    const reply = await callApi(ports, "GET", place === "query" ? `policies?access_token=${TOKENS.read}` : "policies", {
      token: "",
      headers: place === "cookie" ? { cookie: `token=${TOKENS.read}` } : {},
    });
    expect(reply.status).toBe(401);
  });
});

describe("tokens that come and go", () => {
  const put = (everyone: number, token: string) =>
    callApi(ports, "PUT", "activation", { body: { everyone }, ifMatch: "*", token });

  it("one that is taken out of the variable is not known any more", async () => {
    ports.tokens = await tokensOf(["ann", "write", "old"], ["bob", "write", "other"]);
    expect((await put(0, "old")).status).toBe(200);
    ports.tokens = await tokensOf(["bob", "write", "other"]);
    expect((await put(1, "old")).status).toBe(401);
    expect((await put(1, "other")).status).toBe(200);
  });

  it("while one takes the place of another both do, and the audit shows which it was", async () => {
    ports.tokens = await tokensOf(["ann-2025", "write", "old"], ["ann-2026", "write", "new"]);
    await put(0, "old");
    await put(1, "new");
    const { entries } = (await callApi(ports, "GET", "audit", { token: "new" })).json as {
      entries: { actor: string; action: string }[];
    };
    expect(entries.slice(0, 2).map(({ actor }) => actor)).toEqual(["ann-2026", "ann-2025"]);
    expect((await callApi(ports, "GET", "activation", { token: "old" })).json["author"]).toBe("ann-2026");
  });

  it("a scope that is lowered counts at once", async () => {
    ports.tokens = await tokensOf(["ann", "read", TOKENS.write]);
    expect((await put(0, TOKENS.write)).status).toBe(403);
  });
});

describe("wrong tokens", () => {
  const read = (address: string | undefined, token: string): Promise<Reply> =>
    callApi(ports, "GET", "activation", { token, headers: address === undefined ? {} : { "x-test-address": address } });
  const fail = async (address: string | undefined, times: number): Promise<number[]> => {
    const statuses: number[] = [];
    for (let i = 0; i < times; i++) statuses.push((await read(address, `guess-${i}`)).status);
    return statuses;
  };
  const times = (count: number, status: number): number[] => Array.from({ length: count }, () => status);

  it("are limited for the address that they come from", async () => {
    expect(await fail("192.0.2.1", ATTEMPTS_MAX + 3)).toEqual([...times(ATTEMPTS_MAX, 401), ...times(3, 429)]);
    later(12_345);
    const reply = await read("192.0.2.1", "guess");
    expect([reply.status, reply.headers.get("retry-after")]).toEqual([429, "48"]);
    expect(reply.json["detail"]).toBe("too many wrong tokens: try again in 48 s");
    later(47_654);
    expect((await read("192.0.2.1", "guess")).headers.get("retry-after")).toBe("1");
    later(1);
    expect(await fail("192.0.2.1", ATTEMPTS_MAX + 1)).toEqual([...times(ATTEMPTS_MAX, 401), 429]);
  });

  it("never keep the right one out, so that the kill switch works from that address too", async () => {
    await fail("192.0.2.1", ATTEMPTS_MAX + 1);
    const kill = await callApi(ports, "PUT", "activation/kill-switch", {
      body: { kind: "clear" },
      ifMatch: "*",
      headers: { "x-test-address": "192.0.2.1" },
    });
    expect(kill.status).toBe(200);
    // The right one does not begin the count anew.
    expect(await fail("192.0.2.1", 1)).toEqual([429]);
  });

  it("keep an address waiting for a minute at most, even if the clock was set back an hour", async () => {
    await fail("192.0.2.1", ATTEMPTS_MAX);
    later(-3_600_000);
    expect((await read("192.0.2.1", "guess")).headers.get("retry-after")).toBe("60");
    later(60_000);
    expect((await read("192.0.2.1", "guess")).status).toBe(401);
  });

  it("limit nobody else", async () => {
    await fail("192.0.2.1", ATTEMPTS_MAX + 1);
    expect((await read("192.0.2.2", TOKENS.read)).status).toBe(200);
    expect(await fail("192.0.2.2", 1)).toEqual([401]);
    expect((await read(undefined, TOKENS.read)).status).toBe(200);
  });

  it("are not limited where addresses cannot be believed", async () => {
    expect(await fail(undefined, 3 * ATTEMPTS_MAX)).toEqual(times(3 * ATTEMPTS_MAX, 401));
    expect((await read(undefined, TOKENS.read)).status).toBe(200);
  });

  it("are those that could have been right: neither none, nor one that may not write, nor a right one between", async () => {
    for (let i = 0; i < 2 * ATTEMPTS_MAX; i++) {
      expect((await read("192.0.2.1", "")).status).toBe(401);
      const write = {
        body: { everyone: 0 },
        ifMatch: "*",
        token: TOKENS.read,
        headers: { "x-test-address": "192.0.2.1" },
      };
      expect((await callApi(ports, "PUT", "activation", write)).status).toBe(403);
      expect((await read("192.0.2.1", TOKENS.read)).status).toBe(200);
    }
    // A right one does not wash the wrong ones off: who has one could else try others without end.
    await fail("192.0.2.1", ATTEMPTS_MAX - 1);
    await read("192.0.2.1", TOKENS.read);
    expect(await fail("192.0.2.1", 2)).toEqual([401, 429]);
  });

  it("let health be asked", async () => {
    await fail("192.0.2.1", ATTEMPTS_MAX + 1);
    expect(
      (await callApi(ports, "GET", "health", { token: "wrong", headers: { "x-test-address": "192.0.2.1" } })).status,
    ).toBe(200);
  });
});
