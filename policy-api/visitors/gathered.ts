import { DRAWN_ARMS, type DrawnArm } from "../decision/assignment.ts";
import { parse } from "../decision/parse.ts";
import type { Arms } from "./intervals.ts";
import { EMPTY_SKETCH, mergeSketches, readSketch, type Sketch } from "./quantiles.ts";
import { merge, NO_SUMS, readSums, type Sums, sumsJson, type SumsJson } from "./sums.ts";

const ARM_NAMES = { offer: "offered", withhold: "withheld" } as const satisfies Record<DrawnArm, keyof Arms<unknown>>;

/**
 * The outcomes of one version, gathered from all objects. A client is in one object only, so the rows of a key add up. They are
 * added as they come: the rows of all objects at once may be more than an isolate can hold.
 */
export class Gathered {
  readonly version: number;
  readonly #byKey = new Map<string, Arms<OutcomeSums>>();

  constructor(version: number, rows: readonly OutcomeRow[] = []) {
    this.version = version;
    this.add(rows);
  }

  /** Adds an object's rows. Rows of other versions do not count. False if one cannot be read: then nothing was added. */
  add(rows: readonly OutcomeRow[]): boolean {
    const read = rows.filter(({ version }) => version === this.version).map(readRow);
    if (read.includes(undefined)) return false;
    for (const { key, arm, sums } of read.filter((one) => one !== undefined)) {
      const arms = this.of(key);
      const name = ARM_NAMES[arm];
      this.#byKey.set(key, { ...arms, [name]: plus(arms[name], sums) });
    }
    return true;
  }

  /** Both arms under a key. Arms without clients are empty. */
  of(key: string): Arms<OutcomeSums> {
    return this.#byKey.get(key) ?? { offered: NO_OUTCOMES, withheld: NO_OUTCOMES };
  }

  get keys(): readonly string[] {
    return [...this.#byKey.keys()];
  }

  /** All of it as rows, one for each key and arm. */
  rows(): readonly OutcomeRow[] {
    return [...this.#byKey].flatMap(([key, arms]) =>
      DRAWN_ARMS.map((arm) => {
        const { sums, load, lcp } = arms[ARM_NAMES[arm]];
        return { version: this.version, arm, key, sums: sumsJson(sums), load, lcp };
      }),
    );
  }
}

function readRow({ arm, key, ...row }: OutcomeRow): { key: string; arm: DrawnArm; sums: OutcomeSums } | undefined {
  const [sums, load, lcp] = [parse(readSums, row.sums), parse(readSketch, row.load), parse(readSketch, row.lcp)];
  if (!sums.ok || !load.ok || !lcp.ok || !DRAWN_ARMS.includes(arm)) return undefined;
  return { key, arm, sums: { sums: sums.value, load: load.value, lcp: lcp.value } };
}

function plus(a: OutcomeSums, b: OutcomeSums): OutcomeSums {
  return { sums: merge(a.sums, b.sums), load: mergeSketches(a.load, b.load), lcp: mergeSketches(a.lcp, b.lcp) };
}

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
