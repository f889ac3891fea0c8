import { ASSIGNED, TIMES } from "./contribution.ts";
import { SCALE } from "./fixed-point.ts";
import type { OutcomeSums } from "./outcome-row.ts";
import { quantileOf } from "./quantiles.ts";
import { ratiosOf } from "./ratios.ts";
import type { Outcome } from "./sums.ts";

/** What one arm did. */
export interface ArmFigures {
  /** That were assigned. A client of two periods counts as two. */
  readonly clients: number;
  /** Pages that were decided about, at most 50 of a client. */
  readonly pages: number;
  /** Pages that count, at most two of a client, and how many of them reported. */
  readonly counted: number;
  readonly reported: number;
  /** The share of reported pages that came over HTTP/3. Undefined without any. */
  readonly overH3: number | undefined;
  readonly load: LoadTimes | undefined;
  readonly lcp: LoadTimes | undefined;
}

/** How long pages took, milliseconds. */
export interface LoadTimes {
  /** Of which a page said it. */
  readonly clients: number;
  /** The geometric mean. A page that took more than four times what was expected, or less than a quarter, counts as that. */
  readonly meanMs: number;
  /** Of each client's first two pages. Right to 2 %. */
  readonly p75Ms: number;
  readonly p99Ms: number;
}

/** The figures of an arm. Pure. */
export function armFiguresOf(arm: OutcomeSums): ArmFigures {
  const { assigned, load } = arm.sums;
  const sumOf = (term: number): number => Number(assigned.sums[term] ?? 0n) / SCALE;
  return {
    clients: Number(assigned.clients),
    pages: sumOf(ASSIGNED.pages),
    counted: sumOf(ASSIGNED.decided),
    reported: sumOf(ASSIGNED.reported),
    overH3: ratiosOf(load)?.means[TIMES.overH3],
    load: tookOf(arm, "load"),
    lcp: tookOf(arm, "lcp"),
  };
}

/** Undefined below two clients. */
function tookOf(arm: OutcomeSums, outcome: Outcome): LoadTimes | undefined {
  const ratios = ratiosOf(arm.sums[outcome]);
  const [p75Ms, p99Ms] = [quantileOf(arm[outcome], 0.75), quantileOf(arm[outcome], 0.99)];
  if (ratios === undefined || p75Ms === undefined || p99Ms === undefined) return undefined;
  return { clients: ratios.clients, meanMs: 1000 * Math.exp(ratios.means[TIMES.logs] ?? 0), p75Ms, p99Ms };
}
