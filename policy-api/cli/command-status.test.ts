import { beforeEach, describe, expect, it } from "vitest";
import { adaptivePolicy } from "../decision/testing.ts";
import { type Person, person } from "./testing.ts";

let anna: Person;
beforeEach(async () => {
  anna = await person();
  anna.writes("h3.json", { schema: 3, mode: "fixed-h3" });
});

describe("status", () => {
  it("of a new deployment", async () => {
    expect(await anna.does("status")).toEqual({
      code: 0,
      err: "",
      out: `${anna.api.url}: ok

Nobody has activated anything yet.
  everyone: version 0 (initial: observe)

Nobody has pushed a policy yet: version 0, the initial one, observes.
`,
    });
  });

  it("of one that is rolling out, with the kill switch on", async () => {
    await anna.does("push h3.json");
    await anna.api.change({ kind: "put", everyone: 0, stages: [{ version: 1, share: 0.05 }] });
    await anna.api.change({ kind: "kill-switch", to: "fixed-h2" }, "bert");
    const { out } = await anna.does("status");
    expect(out.split("\n").slice(2, 9)).toEqual([
      "*** THE KILL SWITCH IS ON (fixed-h2): `kill off` ends it. ***",
      "HTTP/3 is offered to nobody, and taken back where it may be held, whatever the policy says.",
      "",
      "Revision 2 since 2026-11-21T10:00:00Z, by bert, 3 min ago",
      "  5 %: version 1",
      "  everyone else: version 0 (initial: observe)",
      "",
    ]);
    expect(out).toMatch(/^ +1 {2}5 % +fixed-h3 /m);
  });

  it("of one that is not well: what is wrong, and 5", async () => {
    const health = {
      status: "degraded",
      problems: ["the policy in force cannot be read", "the variable BUDGET_MS must be a whole number"],
      warnings: [],
      policy: "unreadable",
      store: "ok",
      revision: null,
      killSwitch: null,
      http3: "ok",
      udpBuffers: null,
      stack: null,
    };
    anna.api.instead = ({ path }) => (path.endsWith("/health") ? { status: 503, body: health } : undefined);
    const { code, out } = await anna.does("status");
    expect(code).toBe(5);
    expect(out).toContain(
      ": degraded\n  the policy in force cannot be read\n  the variable BUDGET_MS must be a whole number\n",
    );
    expect(JSON.parse((await anna.does("status --json")).out)).toMatchObject({ health, activation: { revision: 0 } });
  });

  it("of one whose TCP has changed under its policy: warns, and all is well beside", async () => {
    const policy = adaptivePolicy({
      provenance: { stack: "s", congestionControl: "cubic", quic: "quic-go", command: "c" },
    });
    await anna.api.ports.store.create({ policy, author: "bert", note: null });
    await anna.api.change({ kind: "put", everyone: 1, stages: [] });
    for (const [tcp, warning] of [
      ["cubic", ""],
      [
        "bbr",
        "  WARNING: version 1 is in force and was made for TCP with cubic beside quic-go, and TCP with bbr beside quic-go serves\n",
      ],
    ] as const) {
      anna.api.ports.stack = { tcp, quic: "quic-go" };
      const { code, out } = await anna.does("status");
      expect(code).toBe(0);
      expect(out).toMatch(`: ok\n  TCP with ${tcp} beside quic-go serves\n${warning}\nRevision 1`);
    }
  });

  it("without a token tells what everybody may know", async () => {
    const { H3_URL = "" } = anna.io.env;
    Object.assign(anna.io, { env: { H3_URL } });
    const { code, out, err } = await anna.does("status");
    expect([code, out]).toEqual([3, `${anna.api.url}: ok\n\n`]);
    expect(err).toContain("There is no token");
  });
});

describe("history and audit", () => {
  beforeEach(async () => {
    await anna.does("push h3.json --note first");
    await anna.does("activate 1 --share 5% --path /shop/ --note few");
    await anna.api.change({ kind: "kill-switch", to: "clear" }, "bert");
  });

  it("history", async () => {
    expect((await anna.does("history")).out.split("\n")).toEqual([
      "revision  everyone  stages             kill   author  since                            cause  note",
      "       2  v0        v1: 5 % of /shop/  clear  bert    2026-11-21T10:00:00Z  3 min ago  -      -",
      "       1  v0        v1: 5 % of /shop/  -      writer  2026-11-21T10:00:00Z  3 min ago  -      few",
      "",
    ]);
  });

  it("audit", async () => {
    const { out } = await anna.does("audit --limit 2");
    expect(out).toMatch(
      /^id +when +who +what +revision +which +note\n 3 .* bert +kill-switch\.on +2 +clear; v1: 5 % of \/shop\/; v0 +-\n 2 /,
    );
    expect(out).toContain("Older ones: --before 2");
    expect(JSON.parse((await anna.does("audit --before 2 --json")).out)).toMatchObject({
      entries: [{ id: 1, actor: "writer", action: "policy.create", version: 1, note: "first" }],
      next: null,
    });
  });
});
