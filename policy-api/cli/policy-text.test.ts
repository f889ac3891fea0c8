import fc from "fast-check";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../base/root.ts";
import { INITIAL_POLICY, parsePolicy, type Policy } from "../decision/policy.ts";
import { adaptivePolicy, flatTable, GAINS } from "../decision/testing.ts";
import { EMPTY_GAINS } from "../visitors/empty-table.ts";
import { decisionsGrid, gridText, isChanged, verdictText } from "./policy-text.ts";
import { type Person, person } from "./testing.ts";

const on = (policy: Policy, path = "/"): string => verdictText("it", policy, { path });
const NOBODY = adaptivePolicy({ method: EMPTY_GAINS });
const ALL = adaptivePolicy({ method: { ...GAINS, table: flatTable(0.5, 0.5) } });

describe("verdictText", () => {
  it.each<[Policy, string]>([
    [INITIAL_POLICY, "On / it offers HTTP/3 to nobody, as it observes; nobody is drawn into arms."],
    [
      { ...INITIAL_POLICY, mode: "fixed-h2" },
      "On / it offers HTTP/3 to nobody, and takes it back where it may be held; nobody is drawn into arms.",
    ],
    // Only an adaptive policy draws.
    [
      { ...INITIAL_POLICY, mode: "fixed-h3", exploration: { share: 0.5 } },
      "On / it offers HTTP/3 to everybody; nobody is drawn into arms.",
    ],
    [
      adaptivePolicy({ method: { kind: "share", share: 0.05 } }),
      "On / it offers HTTP/3 to 5 % of clients, whatever their paths; nobody is drawn into arms.",
    ],
    [NOBODY, "On / it offers HTTP/3 to nobody by what it expects; nobody is drawn into arms."],
    [
      { ...NOBODY, exploration: { share: 0.5 } },
      "On / it offers HTTP/3 to nobody by what it expects; 50 % of its clients are drawn into arms: 25 % are offered it and 25 % are " +
        "not, whatever is expected.",
    ],
    [
      ALL,
      "On / it offers HTTP/3 to all new clients, and in 20 of 20 cases to a client whose loss is known; nobody is drawn into arms.",
    ],
    [
      adaptivePolicy({ method: { kind: "rtt-threshold", rttMs: 50 } }),
      "On / it offers HTTP/3 to new clients from an RTT of 50 ms on, and in 12 of 20 cases to a client whose loss is known; nobody is " +
        "drawn into arms.",
    ],
    [
      adaptivePolicy(),
      "On / it offers HTTP/3 to no new client, and in 10 of 20 cases to a client whose loss is known; nobody is drawn into arms.",
    ],
  ])("%#", (policy, sentence) => {
    expect(on(policy)).toBe(sentence);
  });

  it("is about a path, and says that rules may say otherwise", () => {
    const policy = { ...NOBODY, rules: [{ pathPrefix: "/shop/", mode: "fixed-h3" as const }] };
    expect(on(policy, "/shop/")).toMatch(/^On \/shop\/ it offers HTTP\/3 to everybody; /);
    expect(on(policy)).toMatch(/^On \/ it offers HTTP\/3 to nobody by .*\(1 rule may say otherwise elsewhere\)\.$/);
  });

  it("is of a policy that nobody has measured, as it is shipped", () => {
    const file = readFileSync(join(ROOT, "policy-api/policies/unknown-stack.json"), "utf8");
    const parsed = parsePolicy(JSON.parse(file));
    expect(parsed.ok && on(parsed.value)).toContain("to nobody by what it expects; 4 % of its clients are drawn");
  });

  it("is one sentence that names every drawn client", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), (percent) => {
        const said = on({ ...NOBODY, exploration: { share: percent / 100 } });
        expect(said).toContain(`; ${percent} % of its clients are drawn into arms: `);
        expect(said.match(/\.(?= |$)/g)).toHaveLength(1);
      }),
    );
  });
});

describe("a policy that offers to nobody, and draws half of all clients", () => {
  const drawing = { ...NOBODY, exploration: { share: 0.5 } };
  const verdict = "HTTP/3 to nobody by what it expects; 50 % of its clients are drawn into arms";
  const prepared = async (): Promise<Person> => {
    const anna = await person();
    anna.writes("drawing.json", drawing);
    anna.writes("nobody.json", NOBODY);
    return anna;
  };

  it("`diff` does not call that no change", async () => {
    const { code, out } = await (await prepared()).does("diff nobody.json drawing.json");
    expect(code).toBe(1);
    expect(out.split("\n")[1]).toMatch(`On / drawing.json offers ${verdict}`);
    expect(out).toContain("Of 25 answers on / to clients that are not drawn, none would change.");
  });

  it("`push` says it", async () => {
    expect((await (await prepared()).does("push drawing.json")).out).toContain(`On / this policy offers ${verdict}`);
  });

  it("`activate` says it before it asks, for the path", async () => {
    const anna = await prepared();
    await anna.does("push drawing.json");
    const { out, err } = await anna.does("activate 1 --path /");
    expect(err).toContain("no terminal to ask on");
    expect(out).toContain(`On / version 1 offers ${verdict}`);
    const few = await anna.does("activate 1 --share 5% --path /shop/");
    expect(few.out).toContain(`On /shop/ version 1 offers ${verdict}`);
    // It ends: what it would offer says nothing.
    expect((await anna.does("activate 1 --share 0% --path /shop/")).out).not.toContain("offers HTTP/3");
  });
});

const fixedH3: Policy = { ...INITIAL_POLICY, mode: "fixed-h3" };
const changedOn = (before: Policy, after: Policy, path = "/"): number =>
  decisionsGrid(before, after, { path }).filter(isChanged).length;

describe("decisionsGrid", () => {
  it("nothing changes between a policy and itself", () => {
    expect(changedOn(adaptivePolicy(), adaptivePolicy())).toBe(0);
  });

  it("everything changes from observing to always offering", () => {
    const cells = decisionsGrid(INITIAL_POLICY, fixedH3, { path: "/" });
    expect(cells.filter(isChanged).length).toBe(25);
    expect(cells[0]).toEqual({ rttMs: 5, lossRatio: 0, before: "nothing", after: "h3 3600 s" });
    expect(cells.at(-1)).toMatchObject({ rttMs: 200, lossRatio: null });
  });

  it("how long an offer lives is a part of the answer", () => {
    expect(changedOn(fixedH3, { ...fixedH3, ma: { minS: 60, maxS: 600 } })).toBe(25);
  });

  it("rules count for the path", () => {
    const byRule: Policy = { ...INITIAL_POLICY, rules: [{ pathPrefix: "/shop/", mode: "fixed-h3" }] };
    expect(changedOn(INITIAL_POLICY, byRule)).toBe(0);
    expect(changedOn(INITIAL_POLICY, byRule, "/shop/")).toBe(25);
  });

  it("a share is told with how large it is", () => {
    const shares = (share: number): Policy => adaptivePolicy({ method: { kind: "share", share } });
    const answers = (policy: Policy): ReadonlySet<string> =>
      new Set(decisionsGrid(policy, policy, { path: "/" }).map((cell) => cell.after));
    expect([...answers(shares(0.05))]).toEqual(["5 %: h3 10 s"]);
    expect([...answers(shares(1))]).toEqual(["h3 10 s"]);
    expect([...answers(shares(0))]).toEqual(["nothing"]);
  });
});

it("gridText has what changes below what was", () => {
  const lines = gridText(
    // A client of whom nothing is known most likely has no loss, and gets no offer; or gets one.
    decisionsGrid(adaptivePolicy(), adaptivePolicy({ method: { ...GAINS, mix: [0.5, 0.5] } }), { path: "/" }),
    100,
  ).split("\n");
  expect(lines).toHaveLength(7);
  expect(lines[0]).toMatch(/^RTT +5 ms +25 ms +50 ms +100 ms +200 ms$/);
  expect(lines.at(-2)).toMatch(/^unknown client( +nothing){5}$/);
  expect(lines.at(-1)).toMatch(/^ +-> h3 100 s( +-> h3 100 s){4}$/);
});

it("gridText fits where every answer changes and lives long", () => {
  const day = { minS: 86_400, maxS: 86_400 };
  const text = gridText(
    decisionsGrid({ ...fixedH3, ma: day }, { ...fixedH3, ma: { minS: 1, maxS: 10_000 } }, { path: "/" }),
    100,
  );
  expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
  expect(text).not.toContain("...");
});
