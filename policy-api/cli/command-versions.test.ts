import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { INITIAL_POLICY } from "../decision/policy.ts";
import { adaptivePolicy } from "../decision/testing.ts";
import { type Person, person, TOKENS } from "./testing.ts";

const FIXED_H3 = { schema: 3, mode: "fixed-h3" };
const FIXED_H2 = { schema: 3, mode: "fixed-h2" };
const OF_CUBIC = adaptivePolicy({
  provenance: { stack: "s", congestionControl: "cubic", quic: "quic-go", command: "c" },
});

let anna: Person;
beforeEach(async () => {
  anna = await person();
  anna.writes("h3.json", FIXED_H3);
  anna.writes("h2.json", FIXED_H2);
});

describe("push", () => {
  it("stores a version and activates nothing", async () => {
    const { code, out, err } = await anna.does(["push", "h3.json", "--note", "try it"]);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^h3\.json is now version 1\.\ncontent {2}[0-9a-f]{64}\n/);
    expect(out).toContain("activate 1 --share 5%");
    expect(anna.api.asked()).toEqual(["POST /policies"]);
    expect(anna.api.requests[0]?.body).toEqual({ policy: { ...INITIAL_POLICY, mode: "fixed-h3" }, note: "try it" });
    expect(anna.api.current().everyone).toBe(0);
  });

  it.each([
    ["adaptive-h3", { country: ["JP"] }, true],
    ["adaptive-h3", { asn: [64_500] }, true],
    ["adaptive-h3", { pathPrefix: "/shop/" }, false],
    ["cloudflare", { country: ["JP"] }, false],
  ] as const)("warns about rules that match no visitor: on %s, %j", async (edge, conditions, warns) => {
    anna.api.ports.probed = { ...anna.api.ports.probed, edge };
    anna.writes("rules.json", { ...FIXED_H3, rules: [{ ...conditions, mode: "fixed-h2" }] });
    for (const line of ["push rules.json", "activate 1 --share 5%"])
      expect((await anna.does(line)).out.includes("rules by them match no visitor"), line).toBe(warns);
  });

  describe("of a policy that was made for another stack", () => {
    beforeEach(() => {
      anna.writes("cubic.json", OF_CUBIC);
      anna.api.ports.stack = { tcp: "bbr", quic: "quic-go" };
    });
    const warning =
      "WARNING: this policy was made for TCP with cubic beside quic-go, and TCP with bbr beside quic-go serves.";

    it("asks first: yes, no, and nobody to ask", async () => {
      anna.types("no\r");
      const refused = await anna.does("push cubic.json");
      expect([refused.code, refused.out]).toEqual([2, `${warning}\n\n`]);
      expect(refused.err).toContain("Store it all the same? Type yes:");
      expect(anna.api.asked()).toEqual(["GET /health"]);
      anna.types("yes\r");
      const pushed = await anna.does("push cubic.json");
      expect([pushed.code, pushed.out]).toEqual([
        0,
        expect.stringContaining(`${warning}\n\ncubic.json is now version 1.`),
      ]);
      const alone = await person();
      alone.writes("cubic.json", OF_CUBIC);
      alone.api.ports.stack = { tcp: "cubic", quic: "quiche-cubic" };
      expect(await alone.does("push cubic.json")).toMatchObject({ code: 2, err: expect.stringContaining("--yes") });
      expect(await alone.does("push cubic.json --yes")).toMatchObject({ code: 0 });
    });

    it.each([
      ["of the stack that serves", { tcp: "cubic", quic: "quic-go" }],
      ["where nobody says what serves", null],
    ])("asks nothing %s", async (_name, stack) => {
      anna.api.ports.stack = stack;
      expect(await anna.does("push cubic.json")).toMatchObject({
        code: 0,
        out: expect.not.stringContaining("WARNING"),
      });
    });

    it("activate asks first for a few clients too, and not where the version ends", async () => {
      await anna.does("push cubic.json --yes");
      expect(await anna.does("activate 1 --share 5%")).toMatchObject({
        code: 2,
        out: expect.stringContaining("WARNING: version 1 was made for TCP with cubic"),
        err: expect.stringContaining("Version 1 all the same?"),
      });
      expect(anna.api.current().stages).toEqual([]);
      expect(await anna.does("activate 1 --share 5% --yes")).toMatchObject({ code: 0 });
      expect(await anna.does("activate 1 --share 0%")).toMatchObject({ code: 0 });
      anna.types("yes\r");
      const everyone = await anna.does("activate 1");
      expect(everyone).toMatchObject({ code: 0, out: expect.stringContaining("WARNING: version 1 was made") });
      expect(everyone.err).toContain("Version 1 for everyone?");
    });
  });

  it("again is safe: the key is made of the content", async () => {
    await anna.does("push h3.json");
    const again = await anna.does("push h3.json");
    expect(again.out).toContain("h3.json is now version 1.");
    // Another note is another call, for a policy that is there.
    expect((await anna.does("push h3.json --note other")).out).toContain(
      "h3.json is version 1 already, by writer, 3 min ago",
    );
    expect((await anna.does("push h3.json --note other --json")).out).toContain('"isNew": false');
    expect((await anna.does("list --json")).out.match(/"version": /g)).toHaveLength(1);
    await anna.does("push h2.json");
    const keys = anna.api.requests.flatMap(({ headers }) => headers["idempotency-key"] ?? []);
    expect(new Set(keys).size).toBe(3);
    expect(keys[0]).toBe(keys[1]);
    expect(keys[0]).toBe(createHash("sha256").update(JSON.stringify(anna.api.requests[0]?.body)).digest("hex"));
  });

  it("sends nothing that is not valid", async () => {
    anna.writes("bad.json", { schema: 3, mode: "fixed", ma: { minS: 0, maxS: 60 } });
    const { code, out, err } = await anna.does("push bad.json");
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(
      /^bad\.json is no valid policy\.\nbad\.json: \/mode must be one of .*\nbad\.json: \/ma\/minS must be .*\n$/,
    );
    expect(anna.api.requests).toEqual([]);
  });

  it("tells what a newer server finds wrong, with its places", async () => {
    anna.api.instead = () => ({
      status: 400,
      body: {
        type: "about:blank",
        status: 400,
        detail: "Not so.",
        faults: [{ pointer: "/policy/mode", message: "is out of date" }],
      },
    });
    expect(await anna.does("push h3.json")).toEqual({
      code: 1,
      out: "",
      err: "The server refuses this (400).\nNot so.\n  /policy/mode: is out of date\n",
    });
    expect(JSON.parse((await anna.does("push h3.json --json")).out)).toEqual({
      error: {
        status: 400,
        title: "The server refuses this (400).",
        detail: "Not so.",
        faults: [{ pointer: "/policy/mode", message: "is out of date" }],
      },
    });
  });

  it("a token that may only read may not", async () => {
    const reader = await person(TOKENS.read);
    reader.writes("h3.json", FIXED_H3);
    expect(await reader.does("push h3.json")).toMatchObject({ code: 3, out: "" });
  });
});

describe("list", () => {
  it("nobody has pushed yet", async () => {
    expect((await anna.does("list")).out).toContain("version 0, the initial one, observes");
  });

  it("tells for whom each is in force", async () => {
    await anna.does("push h3.json --note first");
    await anna.does("push h2.json");
    await anna.api.change({ kind: "put", everyone: 1, stages: [{ version: 2, share: 0.05, pathPrefix: "/shop/" }] });
    expect((await anna.does("list")).out.split("\n")).toEqual([
      "version  in force       mode      author  created                          note",
      "      2  5 % of /shop/  fixed-h2  writer  2026-11-21T10:00:00Z  3 min ago  -",
      "      1  everyone       fixed-h3  writer  2026-11-21T10:00:00Z  3 min ago  first",
      "",
    ]);
  });

  it("in pages", async () => {
    await anna.does("push h3.json");
    await anna.does("push h2.json");
    expect((await anna.does("list --limit 1")).out).toContain("\n\nOlder ones: --before 2\n");
    const { out } = await anna.does("list --limit 1 --before 2 --json");
    expect(JSON.parse(out)).toMatchObject({ policies: [{ version: 1 }], next: null });
    expect(await anna.does("list --limit 0")).toMatchObject({ code: 2 });
  });
});

describe("show", () => {
  it("prints what push takes", async () => {
    await anna.does("push h3.json");
    const { out } = await anna.does("show 1");
    expect(JSON.parse(out)).toEqual({ ...INITIAL_POLICY, mode: "fixed-h3" });
    anna.writes("again.json", out);
    expect((await anna.does("push again.json --note again")).out).toContain("is version 1 already");
  });

  it("the active one, and all of a version", async () => {
    expect(JSON.parse((await anna.does("show active")).out)).toEqual(INITIAL_POLICY);
    expect(JSON.parse((await anna.does("show 0 --json")).out)).toMatchObject({ version: 0, author: "initial" });
  });

  it("one that the server cannot read any more", async () => {
    await anna.does("push h3.json");
    anna.api.ports.store.unreadableVersions.add(1);
    const err = "The server cannot read version 1 any more. `push` a new policy.\n";
    expect(await anna.does("show 1")).toEqual({ code: 1, out: "", err });
    expect(await anna.does("diff 1")).toEqual({ code: 2, out: "", err });
    expect(JSON.parse((await anna.does("show 1 --json")).out)).toMatchObject({ author: "writer", policy: null });
  });

  it("one that is not there", async () => {
    expect(await anna.does("show 7")).toEqual({
      code: 1,
      out: "",
      err: expect.stringContaining("there is no version 7"),
    });
  });
});
