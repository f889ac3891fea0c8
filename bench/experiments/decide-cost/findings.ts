import type { Machine } from "../../model/machine.ts";
import { median } from "../../analysis/statistics/summary.ts";
import type { Timing } from "./measure.ts";
import type { StateSize } from "./samples.ts";
import type { Subject } from "./subjects.ts";

/** What a decision may cost. */
export const BOUND_NS = 2_000;
/** The smallest object takes 16 bytes: below this, fewer than one call in 16 leaves anything. */
export const GROWTH_BOUND_BYTES = 1;

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface SubjectCost {
  readonly subject: Subject["name"];
  readonly about: string;
  readonly callsPerRound: number;
  readonly nsPerCall: Spread;
  /** To the plain look-up of the same round. */
  readonly ratio: Spread;
  readonly heapBytesPerCall: number;
  readonly state: StateSize | null;
}

export interface DecideCostSummary {
  readonly command: string;
  readonly day: string;
  readonly policy: string;
  /** Of both lattices. */
  readonly nodes: { readonly tcp: number; readonly quic: number };
  readonly rounds: number;
  readonly heapCalls: number;
  readonly machine: Machine;
  readonly costs: readonly SubjectCost[];
  readonly boundNs: number;
  readonly withinBound: boolean;
  readonly nothingGrows: boolean;
}

const REFERENCE: Subject["name"] = "plain look-up";

export function costsOf(
  subjects: readonly Subject[],
  timings: readonly Timing[],
  growth: ReadonlyMap<Subject["name"], number>,
): SubjectCost[] {
  const reference = new Map(
    timings.filter(({ subject }) => subject === REFERENCE).map(({ round, nsPerCall }) => [round, nsPerCall]),
  );
  return subjects.map(({ name, about, calls, state }) => {
    const own = timings.filter(({ subject }) => subject === name);
    return {
      subject: name,
      about,
      callsPerRound: calls,
      nsPerCall: spread(own.map(({ nsPerCall }) => nsPerCall)),
      ratio: spread(own.map(({ round, nsPerCall }) => nsPerCall / (reference.get(round) ?? Number.NaN))),
      heapBytesPerCall: growth.get(name) ?? Number.NaN,
      state: state ?? null,
    };
  });
}

export function isWithinBound(costs: readonly SubjectCost[]): boolean {
  const decide = costs.find(({ subject }) => subject === "decide");
  return decide !== undefined && decide.nsPerCall.median <= BOUND_NS;
}

export function growsNowhere(costs: readonly SubjectCost[]): boolean {
  return costs.every(({ heapBytesPerCall }) => heapBytesPerCall < GROWTH_BOUND_BYTES);
}

function spread(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}
