// What the reports of 5 % of the clients can do, all the way: the endpoint's bounds, a client's part, the sums, the estimate.
import { describe, expect, it } from "vitest";
import type { DrawnArm } from "../decision/assignment.ts";
import { MAX } from "../decision/parse.ts";
import { addDecision, addOutcome, type AssignedClient, type SketchTimes } from "./assigned-client.ts";
import { compare, type Comparison, type GroundsChecked } from "./compare.ts";
import { COUNTED_PAGES_MAX } from "./counted-pages.ts";
import { LIARS } from "./effect.ts";
import { comparedWith, expectedTimes } from "./expected-time.ts";
import { NO_OUTCOMES, type OutcomeSums } from "./gathered.ts";
import { isOfPage, outcomeOf, type PageDecision, type PageOutcome } from "./page-outcome.ts";
import { type PageReport, parsePageReport } from "./page-report.ts";
import { mergeSketches } from "./quantiles.ts";
import { EVERYWHERE } from "./row-keys.ts";
import { sampleRatioOf } from "./sample-ratio.ts";
import { addChange, changesOf, type ClientChange, outcomeId } from "./sums-change.ts";
import { pageDecision, pageReport } from "./testing-pages.ts";
import { numbers } from "./testing.ts";

const RTT_MS = 40;
/** No report counts later, so a page can say that it took as long. */
const LIFE_MS = 3_600_000;
const NO_OBJECTIONS: GroundsChecked = {
  sampleRatio: sampleRatioOf({ offered: 0, withheld: 0 }, 0.5),
  elsewhere: 0,
  objections: [],
};
/** What an object writes at a time. */
const WRITTEN_TOGETHER = 50;
const MANY = 4_000;

const decisionOf = (arm: DrawnArm): PageDecision => pageDecision({ arm, position: "next", rttMs: RTT_MS });
/** Undefined: the endpoint drops it. */
function accepted(decision: PageDecision, said: Partial<PageReport>): PageOutcome | undefined {
  const parsed = parsePageReport(pageReport({ connectMs: 0, ttfbMs: RTT_MS / 2, ...said }));
  if (!parsed.ok || !isOfPage(decision, parsed.value, decision.atMs + LIFE_MS)) return undefined;
  return outcomeOf(decision, parsed.value, { transport: decision.transport });
}

/** The farthest that the endpoint takes, either way. */
const SLOWEST = { loadMs: MAX.rttMs, atMs: MAX.rttMs };
const FASTEST = { ttfbMs: RTT_MS / 2 - 1, loadMs: RTT_MS / 2 - 1 };
type Lie = Readonly<Record<DrawnArm, Partial<PageReport>>>;
const AGAINST: Lie = { offer: SLOWEST, withhold: FASTEST };
const FOR: Lie = { offer: FASTEST, withhold: SLOWEST };

/** Clients in turn of both arms, of whom each twentieth of an arm may lie. */
function compared(
  clients: number,
  { lie, saves = 0, seed = 1 }: { lie?: Lie; saves?: number; seed?: number },
): Comparison {
  const next = numbers(seed);
  /** About normal, with a variance of 1. */
  const normal = (): number => Math.sqrt(2) * (next() + next() + next() + next() + next() + next() - 3);
  const stored = new Map<string, OutcomeSums>();
  const at = (arm: DrawnArm, key: string): OutcomeSums =>
    stored.get(outcomeId({ version: 3, arm, key })) ?? NO_OUTCOMES;
  let waiting: ClientChange[] = [];
  let expected = expectedTimes(decisionOf("offer"), undefined);
  for (let i = 0; i < clients; i++) {
    const arm = i % 2 === 0 ? "offer" : "withhold";
    const decision = decisionOf(arm);
    const own = 0.4 * normal();
    const honest = Array.from({ length: 1 + Math.floor(next() * 4) }, () => {
      const loadMs = Math.round(900 * Math.exp(own + 0.35 * normal() - (arm === "offer" ? saves : 0)));
      return { loadMs, atMs: loadMs + 5_000 };
    });
    const lies = lie !== undefined && i % (2 / LIARS) < 2;
    const pages = lies ? Array.from({ length: COUNTED_PAGES_MAX }, () => lie[arm]) : honest;
    let held: AssignedClient | undefined;
    for (const _ of pages) held = addDecision(held, decision, undefined);
    const times: SketchTimes[] = [];
    for (const said of pages) {
      const outcome = accepted(decision, said);
      if (outcome === undefined) throw new Error("The endpoint drops it.");
      const added = addOutcome(held, outcome, expected, undefined);
      held = added.client;
      if (added.times !== undefined) times.push(added.times);
    }
    if (held !== undefined) waiting.push({ before: undefined, after: held, times });
    if (i % WRITTEN_TOGETHER < WRITTEN_TOGETHER - 1 && i < clients - 1) continue;
    for (const change of changesOf(waiting))
      stored.set(outcomeId(change), addChange(at(change.arm, change.key), change));
    waiting = [];
    const key = comparedWith(decision);
    const load = mergeSketches(at("offer", key).load, at("withhold", key).load);
    expected = expectedTimes(decision, { load, lcp: [] });
  }
  return compare(NO_OBJECTIONS, {
    offered: at("offer", EVERYWHERE).sums,
    withheld: at("withhold", EVERYWHERE).sums,
  });
}

function figures({ effect }: Comparison): { value: number; reach: number; liesShift: number } {
  if (effect === undefined) throw new Error("There is no estimate.");
  const { gain, liesShift } = effect;
  return { value: gain.value, reach: (gain.high - gain.low) / 2, liesShift };
}

/** By how much lies moved the estimate. */
function moved(honest: Comparison, lied: Comparison): number {
  return Math.abs(figures(lied).value - figures(honest).value);
}

describe("the worst report that counts", () => {
  it("takes as long as a report lives, or as little as light takes", () => {
    const decision = decisionOf("offer");
    for (const said of [SLOWEST, FASTEST]) expect(accepted(decision, said)).toMatchObject({ loadMs: said.loadMs });
    for (const beyond of [
      { loadMs: MAX.rttMs + 1, atMs: MAX.rttMs + 1 },
      { ttfbMs: FASTEST.ttfbMs - 1, loadMs: FASTEST.loadMs - 1 },
      { ttfbMs: FASTEST.ttfbMs, loadMs: FASTEST.loadMs - 1 },
    ])
      expect(accepted(decision, beyond)).toBeUndefined();
  });
});

describe("5 % of each arm's clients lie as well as they can", () => {
  it.each([
    ["against HTTP/3", AGAINST],
    ["for HTTP/3", FOR],
  ])("600 clients: lies %s move the estimate by less than its interval reaches", (_name, lie) => {
    for (let seed = 1; seed <= 3; seed++) {
      const lied = compared(600, { lie, seed });
      expect(moved(compared(600, { seed }), lied)).toBeLessThan(figures(lied).reach);
    }
  });

  // No estimate withstands a constant share of liars as clients arrive (lies.ts). So the bound is said beside the claim.
  it("4,000 clients: lies move it farther than that, within the bound; and what lies made is not said to withstand them", () => {
    const honest = compared(MANY, {});
    expect(honest.claim.kind).toBe("none");
    for (const [lie, kind] of [
      [AGAINST, "slower"],
      [FOR, "faster"],
    ] as const) {
      const lied = compared(MANY, { lie });
      const { reach, liesShift } = figures(lied);
      expect(moved(honest, lied)).toBeGreaterThan(2 * reach);
      expect(moved(honest, lied)).toBeLessThan(liesShift);
      expect(lied.claim).toMatchObject({ kind, withstandsLies: false });
    }
  });

  it("4,000 clients: what lies cannot have made is said to withstand them", () => {
    expect(compared(MANY, { lie: AGAINST, saves: 0.5 }).claim).toMatchObject({ kind: "faster", withstandsLies: true });
  });
});
