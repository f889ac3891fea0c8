import type { TransportEstimate } from "../../../policy-api/core/estimate.ts";
import type { History, RequestFacts } from "../../../policy-api/core/facts.ts";
import type { TimesLattice } from "../../../policy-api/core/times.ts";
import { integer, seededRandom } from "../../analysis/statistics/random.ts";
import { documentOf } from "../../model/content.ts";

/** One navigation to decide on. */
export type Input = ReturnType<typeof inputsOver>[number];

export const NOW_MS = 1_767_225_600_000;

const CONTENTS = [100_000, 1_000_000, 10_000_000, 25_000_000];

/**
 * Navigations all over the lattice, of clients whose path both transports have measured: then two lattices are read, at
 * five places each, which is the most that a decision does.
 */
export function inputsOver(lattice: TimesLattice, count: number, seed: number) {
  const random = seededRandom(seed, "decide-cost", "inputs");
  const between = (axis: readonly number[]): number => {
    const [low, high] = [Math.max(axis[0] ?? 0, (axis.at(-1) ?? 1) / 1_000), axis.at(-1) ?? 1];
    return low * (high / low) ** random();
  };
  const estimate = (): TransportEstimate => ({
    minRttMs: between(lattice.rttMs),
    lossRatio: (lattice.lossRatio.at(-1) ?? 0) * random(),
    packets: 200 + 5_000 * random(),
    deliveryRateBps: between(lattice.deliveryRateBps),
    ageMs: 60_000 * random(),
  });
  const both = () => ({ tcp: estimate(), quic: estimate() });
  return Array.from({ length: count }, () => {
    const contentBytes = CONTENTS[integer(CONTENTS.length, random)] ?? 0;
    return {
      request: {
        transport: random() < 0.5 ? "tcp" : "quic",
        rttMs: between(lattice.rttMs),
        deliveryRateBps: between(lattice.deliveryRateBps),
        path: documentOf(contentBytes),
        asn: 64_496,
        country: "JP",
        offerUntilMs: random() < 0.5 ? NOW_MS + 60_000 : 0,
        offering: random() < 0.5,
        pausedUntilMs: 0,
        shareUnit: random(),
      } satisfies RequestFacts,
      history: { state: "known", client: both(), network: both(), asn: both() } satisfies History,
      explorationUnit: random(),
      /** What the request's path tells. */
      contentBytes,
    };
  });
}
