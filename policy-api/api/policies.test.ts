import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import published from "../policies/published.json" with { type: "json" };
import { INITIAL_POLICY, type Policy } from "../decision/policy.ts";
import { adaptivePolicy, flatTable, GAINS, NOON_MS } from "../decision/testing.ts";
import { callApi, type CallOptions, faultsOf, type TestPorts, testPorts, TOKENS } from "./testing.ts";

let ports: TestPorts;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOON_MS });
  ports = await testPorts();
});
afterEach(() => {
  vi.useRealTimers();
});

const NOON = new Date(NOON_MS).toISOString();
const numbered = (n: number): Policy => ({ ...INITIAL_POLICY, source: `policy ${n}` });
const call = (method: string, resource: string, options?: CallOptions) => callApi(ports, method, resource, options);
const add = (policy: unknown, over: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  call("POST", "policies", { body: { policy, ...over }, headers });

describe("adding a version", () => {
  it("answers with it, its place and its tag", async () => {
    const reply = await add(published, { note: "as published" });
    expect(reply.status).toBe(201);
    expect(reply.headers.get("location")).toBe("/_h3/v1/policies/2");
    expect(reply.headers.get("etag")).toBe('"v2"');
    expect(reply.json).toEqual({
      version: 2,
      contentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      author: "ann",
      note: "as published",
      createdAt: NOON,
      mode: "adaptive",
      source: published.source,
      policy: { ...INITIAL_POLICY, ...published },
    });
    // Where Location leads is what was answered; and nothing of it is in force.
    expect((await call("GET", "policies/2")).json).toEqual(reply.json);
    expect((await call("GET", "activation")).json["everyone"]).toBe(1);
    expect(ports.changes).toBe(0);
  });

  it("fills in what may be left out", async () => {
    expect((await add({ schema: 3, mode: "observe" })).json).toMatchObject({
      note: null,
      source: null,
      policy: INITIAL_POLICY,
    });
  });

  it("that is there already is 200 with the one that it is", async () => {
    const first = await add(numbered(2), { note: "first" });
    await add(numbered(3));
    const again = await add({ ...numbered(2) }, { note: "again" });
    expect([again.status, again.headers.get("location"), again.headers.get("etag")]).toEqual([
      200,
      "/_h3/v1/policies/2",
      '"v2"',
    ]);
    expect(again.json).toEqual(first.json);
  });

  it.each<[string, object, number, string[]]>([
    ["no policy", {}, 400, ["/policy: must be an object"]],
    ["a policy that is none", { policy: "observe" }, 400, ["/policy: must be an object"]],
    [
      "several faults, each with its place",
      { policy: { schema: 3, mode: "always", ma: { minS: 0 } }, note: 5 },
      400,
      [
        '/policy/mode: must be one of "observe", "fixed-h2", "fixed-h3", "adaptive"',
        "/policy/ma/minS: must be a whole number from 1 to 86400",
        "/policy/ma/maxS: is missing",
        "/note: must be text",
      ],
    ],
    [
      "a field that is not known, and the one that was meant",
      { policy: { schema: 3, mode: "observe", "margn/~": 1, margn: {}, rules: [{ mode: "observe", contry: ["JP"] }] } },
      400,
      ["/policy/margn: is not known here: margin?", "/policy/rules/0/contry: is not known here: country?"],
    ],
    ["the policy itself in the body's place", { ...INITIAL_POLICY }, 400, ["/policy: must be an object"]],
    ["a misspelt field beside it", { policy: INITIAL_POLICY, notes: "n" }, 400, ["/notes: is not known here: note?"]],
    [
      "a note of too many characters",
      { policy: INITIAL_POLICY, note: "n".repeat(1001) },
      400,
      ["/note: must have at most 1000 characters"],
    ],
    [
      "a note that would write on a terminal",
      { policy: INITIAL_POLICY, note: "\u001b[2J" },
      400,
      ["/note: must have no control characters"],
    ],
    ["a note of two lines", { policy: INITIAL_POLICY, note: "a\nb" }, 400, ["/note: must have no control characters"]],
    ["null for no note", { policy: INITIAL_POLICY, note: null }, 400, ["/note: must be text"]],
    [
      "what does not go together",
      { policy: { schema: 3, mode: "adaptive", ma: { minS: 9, maxS: 5 }, margin: { enter: 0, leave: 1 } } },
      422,
      [
        "/policy/ma/minS: must not be larger than maxS",
        "/policy/margin/leave: must not be larger than enter",
        "/policy/method: must be there where a mode is adaptive",
      ],
    ],
    [
      "a table that does not fit its axes",
      { policy: adaptivePolicy({ method: { ...GAINS, table: flatTable(0, 0, { price: [0, 0] }) } }) },
      422,
      ["/policy/method/table/price: must have one for each of 1 rttMs"],
    ],
    [
      "what does not go together beside what is wrong by itself",
      { policy: { schema: 3, mode: "observe", ma: { minS: 9, maxS: 5 } }, note: 5 },
      400,
      ["/policy/ma/minS: must not be larger than maxS", "/note: must be text"],
    ],
  ])("%s", async (_name, body, status, faults) => {
    const reply = await call("POST", "policies", { body });
    expect([
      reply.status,
      faultsOf(reply).filter((fault) => !faults.includes(fault) && !fault.includes("known: ")),
    ]).toEqual([status, []]);
    expect(faultsOf(reply)).toEqual(expect.arrayContaining(faults));
    expect((await ports.store.versions({ limit: 1 })).latest).toBe(1);
  });

  it("names places by JSON pointers, whatever is in a name", async () => {
    const reply = await add(
      { schema: 3, mode: "observe", "a/b~": 1, rules: [{ mode: "observe", "~1/": 1 }] },
      { "c/~d": 1 },
    );
    expect(faultsOf(reply).map((fault) => fault.split(":")[0])).toEqual([
      "/policy/a~1b~0",
      "/policy/rules/0/~01~1",
      "/c~1~0d",
    ]);
  });

  it.each([
    ["the newest", '"v1"', 201],
    ["whatever there is", "*", 201],
    ["one of these", '"v0", "v1"', 201],
    ["none of all tags", "", 412],
    ["an earlier one", '"v0"', 412],
    ["a weak one", 'W/"v1"', 412],
    ["one of the activation", '"r1"', 412],
    ["no tag", "v1", 400],
    ["half a tag", '"v1', 400],
  ])("under If-Match: %s", async (_name, ifMatch, status) => {
    const reply = await add(numbered(2), {}, { "if-match": ifMatch });
    expect(reply.status).toBe(status);
    if (status === 412) {
      expect(reply.json).toMatchObject({
        detail: "version 1 was added meanwhile",
        current: { version: 1, etag: '"v1"' },
      });
      expect(reply.headers.get("etag")).toBe('"v1"');
    }
    if (status === 400) expect(faultsOf(reply)).toEqual(['/header/if-match: must be * or entity tags such as "r3"']);
  });

  it("takes the list's tag, and the tag of what was just added", async () => {
    const list = await call("GET", "policies");
    const first = await add(numbered(2), {}, { "if-match": list.headers.get("etag") ?? "" });
    const second = await add(numbered(3), {}, { "if-match": first.headers.get("etag") ?? "" });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect((await add(numbered(4), {}, { "if-match": first.headers.get("etag") ?? "" })).status).toBe(412);
  });
});

describe("an Idempotency-Key", () => {
  const key = { "idempotency-key": "5f1c0a52-try" };

  it("makes a call that is repeated one call", async () => {
    const headers = { ...key, "if-match": '"v1"' };
    const first = await add(numbered(2), { note: "n" }, headers);
    await add(numbered(3));
    const again = await add(numbered(2), { note: "n" }, headers);
    expect([again.status, again.text, again.headers.get("etag"), again.headers.get("location")]).toEqual([
      201,
      first.text,
      '"v2"',
      "/_h3/v1/policies/2",
    ]);
    expect((await ports.store.versions({ limit: 1 })).latest).toBe(3);
  });

  it.each([
    ["another policy", numbered(3), { note: "n" }],
    ["another note", numbered(2), { note: "m" }],
    ["no note", numbered(2), {}],
  ])("does not come twice with %s", async (_name, policy, over) => {
    await add(numbered(2), { note: "n" }, key);
    const reply = await add(policy, over, key);
    expect([reply.status, faultsOf(reply)]).toEqual([
      422,
      ["/header/idempotency-key: must be a new key for a new body"],
    ]);
  });

  it.each([
    ["a", 201],
    ["~".repeat(255), 201],
    ["a".repeat(256), 400],
    ["a b", 400],
    ["a\tb", 400],
  ])("of visible ASCII characters: %j", async (given, status) => {
    const reply = await add(numbered(2), {}, { "idempotency-key": given });
    expect(reply.status).toBe(status);
    if (status === 400)
      expect(faultsOf(reply)).toEqual(["/header/idempotency-key: must be 1 to 255 visible ASCII characters"]);
  });

  it("is of the token that sends it", async () => {
    await ports.store.create({
      policy: numbered(2),
      author: "eve",
      note: null,
      idempotencyKey: key["idempotency-key"],
    });
    expect((await add(numbered(3), {}, key)).status).toBe(201);
  });
});

describe("a version", () => {
  it("0 is what a store has in which nobody has put a policy", async () => {
    const reply = await call("GET", "policies/0", { token: TOKENS.read });
    expect([reply.status, reply.headers.get("etag")]).toEqual([200, '"v0"']);
    expect(reply.json).toEqual({
      version: 0,
      contentHash: "0".repeat(64),
      author: "initial",
      note: null,
      createdAt: "1970-01-01T00:00:00.000Z",
      mode: "observe",
      source: null,
      policy: INITIAL_POLICY,
    });
  });

  it("whose policy cannot be read any more is shown without it", async () => {
    ports.store.unreadableVersions.add(1);
    const reply = await call("GET", "policies/1");
    expect([reply.status, reply.json["policy"]]).toEqual([200, null]);
  });

  it.each([
    ['"v1"', 304],
    ['W/"v1"', 304],
    ["*", 304],
    ['"v0", "v1"', 304],
    ['"v2"', 200],
    ['"r1"', 200],
    ["", 200],
    ["v1", 400],
  ])("under If-None-Match %s: %i", async (tag, status) => {
    const reply = await call("GET", "policies/1", { headers: { "if-none-match": tag } });
    expect([reply.status, reply.text === ""]).toEqual([status, status === 304]);
    if (status !== 400) expect(reply.headers.get("etag")).toBe('"v1"');
  });

  it("that is not there is a 404, whatever the caller has", async () => {
    const reply = await call("GET", "policies/2", { headers: { "if-none-match": "*" } });
    expect([reply.status, faultsOf(reply)]).toEqual([404, ["/path/version: is no known version"]]);
    expect((await call("GET", "policies/9007199254740991")).status).toBe(404);
  });

  it.each(["a", "-1", "1.5", "0x1", "1e1", "9007199254740992", "99999999999999999999", "%20", "1%2F2", "..%2F1"])(
    "%s is no number of one",
    async (version) => {
      const reply = await call("GET", `policies/${version}`);
      expect([reply.status, faultsOf(reply)[0]?.split(":")[0]]).toEqual([400, "/path/version"]);
      const diff = await call("GET", `policies/0/diff/${version}`);
      expect([diff.status, faultsOf(diff)[0]?.split(":")[0]]).toEqual([400, "/path/other"]);
    },
  );
});

describe("what two versions differ in", () => {
  beforeEach(async () => {
    await add(adaptivePolicy({ rules: [{ pathPrefix: "/a/", mode: "observe" }] }));
    await add(
      adaptivePolicy({ rules: [{ pathPrefix: "/b/", mode: "observe" }], ma: { minS: 10, maxS: 200 }, source: "s" }),
    );
  });

  it("is told by place", async () => {
    const reply = await call("GET", "policies/2/diff/3", { token: TOKENS.read });
    expect([reply.status, reply.json]).toEqual([
      200,
      {
        from: 2,
        to: 3,
        changes: [
          { pointer: "/ma/maxS", kind: "changed", before: 100, after: 200 },
          { pointer: "/rules/0/pathPrefix", kind: "changed", before: "/a/", after: "/b/" },
          { pointer: "/source", kind: "added", after: "s" },
        ],
      },
    ]);
    const back = (await call("GET", "policies/3/diff/2")).json as { changes: { pointer: string; kind: string }[] };
    expect(back.changes.find(({ pointer }) => pointer === "/source")).toEqual({
      pointer: "/source",
      kind: "removed",
      before: "s",
    });
  });

  it("is nothing between one and itself", async () => {
    expect((await call("GET", "policies/2/diff/2")).json).toEqual({ from: 2, to: 2, changes: [] });
  });

  it.each([
    ["policies/9/diff/1", ["/path/version: is no known version"]],
    ["policies/1/diff/9", ["/path/other: is no known version"]],
  ])("%s: 404", async (resource, faults) => {
    const reply = await call("GET", resource);
    expect([reply.status, faultsOf(reply)]).toEqual([404, faults]);
  });

  it("cannot be told of one that cannot be read", async () => {
    ports.store.unreadableVersions.add(3);
    for (const resource of ["policies/3/diff/2", "policies/2/diff/3"]) {
      const reply = await call("GET", resource);
      expect([reply.status, reply.json["detail"]]).toEqual([422, "version 3 cannot be read any more"]);
    }
  });
});

describe("the list", () => {
  it("is of pages, newest first, with the tag of the newest on each", async () => {
    for (let i = 2; i <= 5; i++) await add(numbered(i));
    const pages: number[][] = [];
    for (let before: number | null = 100; before !== null;) {
      const reply = await call("GET", `policies?limit=2&before=${before}`);
      expect(reply.headers.get("etag")).toBe('"v5"');
      const { policies, next } = reply.json as {
        policies: { version: number; policy?: unknown }[];
        next: number | null;
      };
      for (const one of policies) expect(one).not.toHaveProperty("policy");
      pages.push(policies.map(({ version }) => version));
      before = next;
    }
    expect(pages).toEqual([[5, 4], [3, 2], [1]]);
    expect((await call("GET", "policies")).json).toMatchObject({
      policies: [{ version: 5 }, {}, {}, {}, {}],
      next: null,
    });
    expect((await call("GET", "policies?before=0")).json).toEqual({ policies: [], next: null });
  });

  it("of 20 unless told, of 100 at most", async () => {
    for (let i = 2; i <= 101; i++) await ports.store.create({ policy: numbered(i), author: "a", note: null });
    const size = async (query: string) =>
      ((await call("GET", `policies${query}`)).json["policies"] as unknown[]).length;
    expect([await size(""), await size("?limit=100"), await size("?limit=1")]).toEqual([20, 100, 1]);
  });
});
