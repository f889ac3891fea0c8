import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import fc from "fast-check";
import { type ActivationChange, KILL_SWITCHES } from "../decision/activation.ts";
import { INITIAL_POLICY } from "../decision/policy.ts";
import { NOON_MS } from "../decision/testing.ts";
import { type ActivationStore, faultsOfWriters, type WriterStep } from "../decision/testing-activations.ts";
import { callApi, type CallOptions, faultsOf, TestPorts, testPorts, TOKENS } from "./testing.ts";

let ports: TestPorts;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOON_MS });
  ports = await testPorts();
  for (const source of ["two", "three"])
    await ports.store.create({ policy: { ...INITIAL_POLICY, source }, author: "setup", note: null });
});
afterEach(() => {
  vi.useRealTimers();
});

const NOON = new Date(NOON_MS).toISOString();
const call = (method: string, resource: string, options?: CallOptions) => callApi(ports, method, resource, options);
const put = (body: object, ifMatch = "*") => call("PUT", "activation", { body, ifMatch });
const initial = {
  revision: 1,
  everyone: 1,
  stages: [],
  killSwitch: null,
  author: "setup",
  note: null,
  cause: null,
  at: NOON,
  previousRevision: 0,
};

describe("the activation", () => {
  it("is shown with its tag", async () => {
    const reply = await call("GET", "activation", { token: TOKENS.read });
    expect([reply.status, reply.headers.get("etag"), reply.json]).toEqual([200, '"r1"', initial]);
  });

  it.each([
    ['"r1"', 304],
    ['W/"r1"', 304],
    ["*", 304],
    ['"r0","r1"', 304],
    ['"r0"', 200],
    ['"v1"', 200],
    ["", 200],
    ["r1", 400],
  ])("under If-None-Match %s: %i", async (tag, status) => {
    const reply = await call("GET", "activation", { headers: { "if-none-match": tag } });
    expect([reply.status, reply.text === ""]).toEqual([status, status === 304]);
    if (status !== 400) expect(reply.headers.get("etag")).toBe('"r1"');
    if (status === 400)
      expect(faultsOf(reply)).toEqual(['/header/if-none-match: must be * or entity tags such as "r3"']);
  });

  it("that cannot be read is a 503 that tells what to do, and that can be done", async () => {
    ports.store.unreadable = true;
    const reply = await call("GET", "activation");
    expect([reply.status, reply.json["detail"]]).toEqual([
      503,
      "the stored activation cannot be read: put one, with If-Match: *",
    ]);
    expect((await put({ everyone: 2 })).status).toBe(200);
    expect((await call("GET", "activation")).status).toBe(200);
  });
});

describe("a change", () => {
  const stages = [
    { version: 2, share: 0.05, pathPrefix: "/shop/" },
    { version: 3, share: 1 },
  ];

  it("is answered with what is now in force, and obeyed here before that", async () => {
    const reply = await put({ everyone: 3, stages, note: "half of the shop" }, '"r1"');
    expect([reply.status, reply.headers.get("etag")]).toEqual([200, '"r2"']);
    expect(reply.json).toEqual({
      revision: 2,
      everyone: 3,
      stages,
      killSwitch: null,
      author: "ann",
      note: "half of the shop",
      cause: null,
      at: NOON,
      previousRevision: 1,
    });
    expect(ports.changes).toBe(1);
    expect((await call("GET", "activation")).json).toEqual(reply.json);
  });

  it("that changes nothing is no revision", async () => {
    const reply = await put({ everyone: 1, note: "again" });
    expect([reply.status, reply.json, reply.headers.get("etag")]).toEqual([200, initial, '"r1"']);
    expect((await ports.store.audit({ limit: 100 })).items).toHaveLength(4);
  });

  it("is the autopilot's only by a token of its scope, and until the next change", async () => {
    const cause = { step: "takes-back", version: 2 };
    const body = { everyone: 3, note: "autopilot takes back version 2.", cause };
    const refused = await put(body);
    expect([refused.status, refused.json["detail"]]).toEqual([
      403,
      "the token ann is not of the scope autopilot, so it may give no cause",
    ]);
    expect(ports.store.current.revision).toBe(1);
    const reply = await call("PUT", "activation", { body, ifMatch: "*", token: TOKENS.autopilot });
    expect(reply.json).toMatchObject({ everyone: 3, cause });
    for (const resource of ["rollback", "rollback"])
      expect((await call("POST", `activation/${resource}`, { ifMatch: "*" })).json).toMatchObject({ cause: null });
    const killed = await call("PUT", "activation/kill-switch", { body: { kind: "clear" }, ifMatch: "*" });
    expect(killed.json).toMatchObject({ cause: null });
  });

  it("leaves the kill switch as it is", async () => {
    await call("PUT", "activation/kill-switch", { body: { kind: "clear" }, ifMatch: "*" });
    expect((await put({ everyone: 2 })).json).toMatchObject({ everyone: 2, killSwitch: "clear" });
  });

  it.each<[string, object, number, string[]]>([
    ["nobody", {}, 400, ["/everyone: is missing"]],
    ["no number", { everyone: "3" }, 400, ["/everyone: must be a number"]],
    ["half a version", { everyone: 1.5 }, 400, ["/everyone: must be a whole number"]],
    ["a version below 0", { everyone: -1 }, 400, ["/everyone: must be at least 0"]],
    ["null", { everyone: null }, 400, ["/everyone: must be a number"]],
    ["what is misspelt", { everyone: 1, stage: [] }, 400, ["/stage: is not known here: stages?"]],
    [
      "the kill switch, which has a place of its own",
      { everyone: 1, killSwitch: null },
      400,
      ["/killSwitch: is not known here; known: everyone, stages, note, cause"],
    ],
    [
      "stages with faults",
      {
        everyone: 1,
        stages: [
          { version: 1 },
          { version: 1, share: 1.5, pathPrefix: "shop" },
          { version: 1, share: -0.1, pathPrefix: "" },
          { version: 1, share: 1, path: "/" },
        ],
      },
      400,
      [
        "/stages/0/share: is missing",
        "/stages/1/share: must be at most 1",
        "/stages/1/pathPrefix: must begin with /",
        "/stages/2/share: must be at least 0",
        "/stages/2/pathPrefix: must have at least 1 character",
        "/stages/2/pathPrefix: must begin with /",
        "/stages/3/path: is not known here; known: version, share, pathPrefix",
      ],
    ],
    [
      "too many stages",
      { everyone: 1, stages: Array.from({ length: 9 }, () => ({ version: 1, share: 1 })) },
      400,
      ["/stages: must have at most 8 items"],
    ],
    [
      "too long a path",
      { everyone: 1, stages: [{ version: 1, share: 1, pathPrefix: `/${"a".repeat(1000)}` }] },
      400,
      ["/stages/0/pathPrefix: must have at most 1000 characters"],
    ],
    ["no list", { everyone: 1, stages: { 0: { version: 1, share: 1 } } }, 400, ["/stages: must be a list"]],
    [
      "versions that are not there, each with its place",
      {
        everyone: 7,
        stages: [
          { version: 8, share: 1 },
          { version: 1, share: 1 },
          { version: 7, share: 1 },
        ],
      },
      422,
      [
        "/everyone: there is no version 7",
        "/stages/0/version: there is no version 8",
        "/stages/2/version: there is no version 7",
      ],
    ],
  ])("%s", async (_name, body, status, faults) => {
    const reply = await put(body);
    expect([reply.status, faultsOf(reply)]).toEqual([status, faults]);
    expect((await call("GET", "activation")).json).toEqual(initial);
    expect(ports.changes).toBe(0);
  });

  it("of eight stages can be made", async () => {
    const eight = Array.from({ length: 8 }, (_, i) => ({ version: 1, share: i / 8 }));
    expect((await put({ everyone: 0, stages: eight })).json["stages"]).toEqual(eight);
  });
});

describe("If-Match", () => {
  const changes: [string, string, object | undefined][] = [
    ["PUT", "activation", { everyone: 2 }],
    ["POST", "activation/rollback", undefined],
    ["PUT", "activation/kill-switch", { kind: "clear" }],
    ["DELETE", "activation/kill-switch", undefined],
  ];
  const tags: [string, number][] = [
    ['"r1"', 200],
    ["*", 200],
    ['"r0", "r1"', 200],
    ['"r0"', 412],
    ['"r2"', 412],
    ['W/"r1"', 412],
    ['"v1"', 412],
    ['"r99999999999999999999"', 412],
    ["r1", 400],
    ["", 400],
    ['"r1', 400],
  ];
  it.each(changes.flatMap(([method, resource, body]) => tags.map((tag) => [method, resource, body, ...tag] as const)))(
    "%s %s %j under %s: %i",
    async (method, resource, body, ifMatch, status) => {
      const reply = await call(method, resource, { body, ifMatch });
      expect(reply.status).toBe(status);
      if (status === 412) {
        expect(reply.json).toMatchObject({
          detail: "revision 1, by setup, is in force",
          current: { revision: 1, etag: '"r1"' },
        });
        expect(reply.headers.get("etag")).toBe('"r1"');
      }
      if (status === 400) expect(faultsOf(reply)).toEqual(['/header/if-match: must be * or entity tags such as "r3"']);
      if (status !== 200) expect((await call("GET", "activation")).json).toEqual(initial);
    },
  );

  it.each(changes)("%s %s %j without it: 428", async (method, resource, body) => {
    const reply = await call(method, resource, { body });
    expect([reply.status, faultsOf(reply)]).toEqual([428, ["/header/if-match: is missing"]]);
    expect(reply.json["detail"]).toContain("If-Match");
    expect((await call("GET", "activation")).json).toEqual(initial);
    expect(ports.changes).toBe(0);
  });

  it("after a 412 the tag that came with it is right", async () => {
    const lost = await put({ everyone: 2 }, '"r0"');
    const { current } = lost.json as { current: { etag: string } };
    expect((await put({ everyone: 2 }, current.etag)).status).toBe(200);
  });
});

describe("a rollback", () => {
  const rollback = (options: CallOptions = {}) => call("POST", "activation/rollback", { ifMatch: "*", ...options });

  it("is one revision more, with what was before; two undo two, and then there is nothing", async () => {
    await put({ everyone: 2, stages: [{ version: 3, share: 0.5 }] });
    const first = await rollback({ body: { note: "too slow" } });
    expect([first.status, first.headers.get("etag")]).toEqual([200, '"r3"']);
    expect(first.json).toMatchObject({ revision: 3, everyone: 1, stages: [], note: "too slow", previousRevision: 0 });
    expect((await rollback()).json).toMatchObject({ revision: 4, everyone: 0, author: "ann", previousRevision: null });
    const last = await rollback();
    expect([last.status, last.json["detail"]]).toEqual([409, "there is nothing to go back to"]);
    expect(ports.changes).toBe(3);
  });

  it.each([
    ["no body", {}],
    ["an empty one", { body: "" }],
    ["an empty one of a form", { body: "", headers: { "content-type": "application/x-www-form-urlencoded" } }],
    ["an empty object", { body: {} }],
  ])("with %s", async (_name, options) => {
    expect(await rollback(options)).toMatchObject({ status: 200, json: { note: null } });
  });

  it.each([
    [{ notes: "" }, ["/notes: is not known here: note?"]],
    [{ note: 5 }, ["/note: must be text"]],
  ])("with %j: refused", async (body, faults) => {
    const reply = await rollback({ body });
    expect([reply.status, faultsOf(reply)]).toEqual([400, faults]);
  });
});

describe("the kill switch", () => {
  it("is put on, changed, and taken off, each by a revision", async () => {
    await put({ everyone: 2 });
    const on = await call("PUT", "activation/kill-switch", {
      body: { kind: "fixed-h2", note: "incident" },
      ifMatch: "*",
    });
    expect(on.json).toMatchObject({ revision: 3, everyone: 2, killSwitch: "fixed-h2", note: "incident" });
    const clear = await call("PUT", "activation/kill-switch", { body: { kind: "clear" }, ifMatch: '"r3"' });
    expect([clear.json["killSwitch"], clear.headers.get("etag")]).toEqual(["clear", '"r4"']);
    const off = await call("DELETE", "activation/kill-switch", { ifMatch: '"r4"' });
    expect(off.json).toMatchObject({ revision: 5, everyone: 2, killSwitch: null });
    expect(ports.changes).toBe(4);
    const { items } = await ports.store.audit({ limit: 3 });
    expect(items.map(({ action }) => action)).toEqual(["kill-switch.off", "kill-switch.on", "kill-switch.on"]);
  });

  it("is put on where the activation cannot be read, too", async () => {
    ports.store.unreadable = true;
    const reply = await call("PUT", "activation/kill-switch", { body: { kind: "clear" }, ifMatch: "*" });
    expect([reply.status, reply.json["killSwitch"]]).toEqual([200, "clear"]);
  });

  it("is in force in memory where the store cannot take it, and the answer says so", async () => {
    ports.store.gone = true;
    const body = { kind: "clear", note: "incident" };
    const held = await call("PUT", "activation/kill-switch", { body, ifMatch: "*" });
    expect([held.status, held.json]).toEqual([
      202,
      { stored: false, killSwitch: "clear", problem: expect.stringContaining("the store could not take it") },
    ]);
    expect(ports.killed).toEqual({ kind: "clear", author: "ann", note: "incident" });
    expect(ports.failures).toHaveLength(1);

    // The store can be read again.
    ports.store.gone = false;
    const read = await call("GET", "activation", { headers: { "if-none-match": '"r1"' } });
    expect([read.status, read.json]).toEqual([200, { ...initial, killSwitch: "clear", killSwitchStored: false }]);

    // The next one is stored, and takes its place.
    const stored = await call("PUT", "activation/kill-switch", { body: { kind: "fixed-h2" }, ifMatch: "*" });
    expect([stored.status, stored.json["killSwitch"], ports.killed]).toEqual([200, "fixed-h2", undefined]);
  });

  it("is in force in memory where the store hangs", { timeout: 20_000 }, async () => {
    vi.spyOn(ports.store, "change").mockImplementation(() => new Promise(() => undefined));
    const held = await call("PUT", "activation/kill-switch", { body: { kind: "clear" }, ifMatch: "*" });
    expect([held.status, ports.killed?.kind]).toEqual([202, "clear"]);
  });

  it("is turned off in memory, with and without the store", async () => {
    ports.store.gone = true;
    expect((await call("DELETE", "activation/kill-switch", { ifMatch: "*" })).status).toBe(503);
    for (const gone of [true, false]) {
      ports.killed = { kind: "clear", author: "ann", note: null };
      ports.store.gone = gone;
      const off = await call("DELETE", "activation/kill-switch", { ifMatch: "*" });
      expect([off.status, off.json["killSwitch"], ports.killed]).toEqual([gone ? 202 : 200, null, undefined]);
    }
  });

  it("that is refused is not in force in memory either", async () => {
    for (const ifMatch of ['"r0"', undefined])
      await call("PUT", "activation/kill-switch", {
        body: { kind: "clear" },
        ...(ifMatch === undefined ? {} : { ifMatch }),
      });
    expect(ports.killed).toBeUndefined();
  });

  it.each<[object, string[]]>([
    [{}, ['/kind: must be one of "fixed-h2", "clear"']],
    [{ kind: "off" }, ['/kind: must be one of "fixed-h2", "clear"']],
    [{ kind: null }, ['/kind: must be one of "fixed-h2", "clear"']],
    [{ kinds: "clear" }, ['/kind: must be one of "fixed-h2", "clear"', "/kinds: is not known here: kind?"]],
  ])("%j is refused", async (body, faults) => {
    const reply = await call("PUT", "activation/kill-switch", { body, ifMatch: "*" });
    expect([reply.status, faultsOf(reply)]).toEqual([400, faults]);
  });
});

it("the history is of pages, newest first", async () => {
  for (const everyone of [2, 3, 2]) await put({ everyone });
  const page = async (query: string) => {
    const { activations, next } = (await call("GET", `activation/history${query}`, { token: TOKENS.read })).json as {
      activations: { revision: number }[];
      next: number | null;
    };
    return [activations.map(({ revision }) => revision), next];
  };
  expect(await page("")).toEqual([[4, 3, 2, 1], null]);
  expect(await page("?limit=3")).toEqual([[4, 3, 2], 2]);
  expect(await page("?limit=3&before=2")).toEqual([[1], null]);
  expect(await page("?before=1")).toEqual([[], null]);
});

it.each(["policies", "activation/history", "audit"])(
  "a page of %s is bounded, and asked for by numbers",
  async (list) => {
    const faults = async (query: string) => {
      const reply = await call("GET", `${list}?${query}`);
      return [reply.status, ...faultsOf(reply)];
    };
    expect(await faults("limit=0")).toEqual([400, "/query/limit: must be at least 1"]);
    expect(await faults("limit=101")).toEqual([400, "/query/limit: must be at most 100"]);
    for (const limit of ["", "ten", "1.5", "-1", "1e1", "0x10", "+5", "%205"])
      expect([limit, ...(await faults(`limit=${limit}`))]).toEqual([
        limit,
        400,
        "/query/limit: must be a whole number",
      ]);
    expect(await faults("before=a&limit=0")).toEqual([
      400,
      "/query/limit: must be at least 1",
      "/query/before: must be a whole number",
    ]);
    expect(await faults("befor=3")).toEqual([400, "/query/befor: is not known here: before?"]);
    expect((await faults("limit=1&limit=2"))[0]).toBe(400);
  },
);

it("several who write over HTTP: one of those with the same tag wins, and nothing that was answered is lost", async () => {
  const to: fc.Arbitrary<ActivationChange> = fc.oneof(
    { weight: 3, arbitrary: fc.nat(3).map((everyone) => ({ kind: "put" as const, everyone, stages: [] })) },
    // Not off: that call has no note, by which writers are told apart here.
    fc.constantFrom(...KILL_SWITCHES).map((kind) => ({ kind: "kill-switch" as const, to: kind })),
    fc.constant({ kind: "rollback" as const }),
  );
  const step: fc.Arbitrary<WriterStep> = fc.oneof(
    fc.record({ writer: fc.nat(2), does: fc.constant("read" as const) }),
    fc.record({ writer: fc.nat(2), does: fc.constantFrom("write" as const, "write-whatever" as const), change: to }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 6 }), async (rounds) => {
      const { tokens } = ports;
      ports = new TestPorts();
      ports.tokens = tokens;
      for (const source of ["one", "two", "three"])
        await ports.store.create({ policy: { ...INITIAL_POLICY, source }, author: "setup", note: null });
      expect(await faultsOfWriters(overHttp(), rounds)).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

/** The store of activations as a caller of the API has it; writers leave their names in the note. */
function overHttp(): ActivationStore {
  return {
    activation: async () => shown((await call("GET", "activation")).json),
    activations: async () => {
      const { activations } = (await call("GET", "activation/history?limit=100")).json;
      return { items: (activations as Record<string, unknown>[]).map(shown), next: null };
    },
    change: async (change, { author: note, ifMatch }) => {
      const options = { ifMatch: ifMatch === "*" ? "*" : ifMatch.map((revision) => `"r${revision}"`).join(", ") };
      const reply =
        change.kind === "put"
          ? await call("PUT", "activation", { ...options, body: { everyone: change.everyone, note } })
          : change.kind === "rollback"
            ? await call("POST", "activation/rollback", { ...options, body: { note } })
            : await call("PUT", "activation/kill-switch", { ...options, body: { kind: change.to, note } });
      const { current } = reply.json as { current?: Record<string, unknown> };
      if (reply.status === 412 && current !== undefined)
        return { kind: "precondition-failed", current: shown(current) };
      if (reply.status === 409) return { kind: "nothing-before" };
      expect([reply.status, reply.headers.get("etag")]).toEqual([200, `"r${String(reply.json["revision"])}"`]);
      return { kind: "changed", activation: shown(reply.json) };
    },
  };
}

function shown({ note, ...activation }: Record<string, unknown>) {
  return { ...activation, author: note, note: null } as never;
}
