import type { DrawnArm } from "../decision/assignment.ts";
import type { Arms } from "./intervals.ts";
import { EMPTY_SKETCH, mergeSketches, type Sketch } from "./quantiles.ts";
import { merge, NO_SUMS, type Sums } from "./sums.ts";

/** What the clients of one arm add up to under one key. */
export interface OutcomeSums {
  readonly sums: Sums;
  /** Load times of pages, and their largest contentful paints. */
  readonly load: Sketch;
  readonly lcp: Sketch;
}

export const NO_OUTCOMES: OutcomeSums = { sums: NO_SUMS, load: EMPTY_SKETCH, lcp: EMPTY_SKETCH };

const NOBODY: Arms<OutcomeSums> = { offered: NO_OUTCOMES, withheld: NO_OUTCOMES };

/** An outcome row's key in the store: `all` (EVERYWHERE), a cell (cellKey), a class of RTT (`rtt/0`, rttKey), an autonomous system (`asn/64496`) or a country (`country/JP`). */
export interface OutcomeKey {
  readonly version: number;
  readonly arm: DrawnArm;
  readonly key: string;
}

/** What the clients of one version and arm add up to under one key. No client can be told from it. */
export type OutcomeRow = OutcomeKey & OutcomeSums;

/**
 * The outcomes of one version, gathered from all objects. A client is in one object only, so the rows of a key add up. They are
 * added as they come: the rows of all objects at once may be more than an isolate can hold.
 */
export class Gathered {
  readonly version: number;
  #byKey: ReadonlyMap<string, Arms<OutcomeSums>> = new Map();

  constructor(version: number, rows: readonly OutcomeRow[] = []) {
    this.version = version;
    this.add(rows);
  }

  /** Adds an object's rows, or none: it throws on those of another release. */
  add(rows: readonly OutcomeRow[]): void {
    const added = new Map(this.#byKey);
    for (const { arm, key, ...sums } of rows) {
      const arms = added.get(key) ?? NOBODY;
      const name = arm === "offer" ? "offered" : "withheld";
      added.set(key, { ...arms, [name]: plus(arms[name], sums) });
    }
    this.#byKey = added;
  }

  /** Both arms under a key. Arms without clients are empty. */
  of(key: string): Arms<OutcomeSums> {
    return this.#byKey.get(key) ?? NOBODY;
  }

  get keys(): readonly string[] {
    return [...this.#byKey.keys()];
  }
}

function plus(a: OutcomeSums, b: OutcomeSums): OutcomeSums {
  return { sums: merge(a.sums, b.sums), load: mergeSketches(a.load, b.load), lcp: mergeSketches(a.lcp, b.lcp) };
}
