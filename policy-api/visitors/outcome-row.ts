import type { DrawnArm } from "../decision/assignment.ts";
import { EMPTY_SKETCH, type Sketch } from "./quantiles.ts";
import { NO_SUMS, type Sums, type SumsJson } from "./sums.ts";

/**
 * What the clients of one version and arm add up to under one key: `all` (EVERYWHERE), a cell (cellKey), a class of RTT
 * (`rtt/0`, rtt-classes.ts) or an autonomous system (`asn/64496`). Plain JSON. No client can be told from it.
 */
export interface OutcomeRow {
  readonly version: number;
  readonly arm: DrawnArm;
  readonly key: string;
  readonly sums: SumsJson;
  /** Load times of pages, and their largest contentful paints. */
  readonly load: Sketch;
  readonly lcp: Sketch;
}

/** The same in memory: what the clients of one arm add up to under one key. */
export interface OutcomeSums {
  readonly sums: Sums;
  readonly load: Sketch;
  readonly lcp: Sketch;
}

export const NO_OUTCOMES: OutcomeSums = { sums: NO_SUMS, load: EMPTY_SKETCH, lcp: EMPTY_SKETCH };
