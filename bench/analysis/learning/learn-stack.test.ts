import { describe, expect, it } from "vitest";
import { INITIAL_POLICY, type Policy } from "../../../policy-api/core/policy.ts";
import { EMPTY_GAINS } from "../../../policy-api/outcomes/empty-table.ts";
import { client, DESCRIPTION, playing } from "../population/testing.ts";
import { gainUnder, learnStack } from "./learn-stack.ts";
import type { Visitors } from "./visitors.ts";

/** A site of clients whose pages take as many times as long over HTTP/3. */
function site(factor: number): Visitors {
  const clients = [client("one", factor), client("other", factor)];
  const times = clients.map(() => ({
    h2: { firstMs: 1_100, openedMs: 1_000, laterMs: 1_000 },
    h3: { firstMs: 1_000 * factor + 100, openedMs: 1_000 * factor, laterMs: 1_000 * factor },
  }));
  return { ...playing({ clients, times, price: () => 0.02 }), description: DESCRIPTION, seed: 1 };
}
const EMPTY: Policy = { ...INITIAL_POLICY, mode: "adaptive", method: EMPTY_GAINS, exploration: { share: 0.4 } };
const learn = (visitors: Visitors, start = EMPTY) =>
  learnStack({ visitors, judged: visitors, start, looks: [200, 3_000], visitsToAProposal: 500 });

describe("learnStack", () => {
  it("learns to offer where HTTP/3 is faster: nothing before the first proposal, nearly all that there is after the last", () => {
    const visitors = site(0.7);
    const [early, late] = learn(visitors);
    expect(early).toMatchObject({ gain: 0, proposals: 0, visits: expect.closeTo(200, -1) });
    const always = gainUnder({ ...EMPTY, mode: "fixed-h3" }, visitors);
    expect(always).toBeGreaterThan(0.1);
    expect(late?.gain).toBeGreaterThan(0.9 * always);
    expect(late?.refused).toBeUndefined();
    // At first draws offered what the policy did not yet, which gained.
    expect(early?.cost).toBeLessThan(0);
  });

  it("learns not to offer where it is slower, from a policy that does, and tells what draws cost", () => {
    const visitors = site(1.5);
    const offering: Policy = {
      ...EMPTY,
      method: { ...EMPTY_GAINS, table: { ...EMPTY_GAINS.table, next: everywhere(0.2), return: everywhere(0.2) } },
    };
    const [early, late] = learn(visitors, offering);
    expect(early?.gain).toBeLessThan(-0.1);
    expect(late?.gain).toBeCloseTo(0, 2);
    const [ofNothing] = learn(visitors);
    expect(ofNothing?.cost).toBeGreaterThan(0);
  });
});

function everywhere(gain: number): { gain: number[][][]; se: number[][][] } {
  const all = (value: number) =>
    EMPTY_GAINS.table.next.gain.map((losses) => losses.map((rtts) => rtts.map(() => value)));
  return { gain: all(gain), se: all(0.05) };
}
