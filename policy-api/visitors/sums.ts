import { object, parse, type Parsed } from "../decision/parse.ts";
import type { Arms } from "./arms.ts";
import type { ClientDay } from "./client-day.ts";
import { ASSIGNED_TERMS, type Contribution, contributionOf, TIMES_TERMS } from "./contribution.ts";
import {
  combined,
  type Moments,
  type MomentsJson,
  momentsJson,
  momentsOf,
  noMoments,
  readMoments,
  replacedIn,
} from "./moments.ts";

/** What the clients of one arm add up to, in one cell or in all. No client can be told from it. */
export interface Sums {
  /** Over clients about whose pages was decided: terms `ASSIGNED`. */
  readonly assigned: Moments;
  /** Over clients of which a page reported: terms `TIMES`. */
  readonly load: Moments;
  readonly lcp: Moments;
}

export type SumsJson = Readonly<Record<keyof Sums, MomentsJson>>;

export const NO_SUMS: Sums = {
  assigned: noMoments(ASSIGNED_TERMS),
  load: noMoments(TIMES_TERMS),
  lcp: noMoments(TIMES_TERMS),
};

/** What the pages of an outcome took: until the load event, or the largest contentful paint. */
export const OUTCOMES = ["load", "lcp"] as const satisfies readonly (keyof Sums)[];
export type Outcome = (typeof OUTCOMES)[number];

/** Adds a client's row. Pure. */
export function add(sums: Sums, day: ClientDay): Sums {
  return combine(sums, sumsOf(contributionOf(day)), 1n);
}

/** Takes a client's row out again, exactly. It must have been added. Pure. */
export function remove(sums: Sums, day: ClientDay): Sums {
  return combine(sums, sumsOf(contributionOf(day)), -1n);
}

/** The sums with a client's row as it is now in the place of the row as it was. Pure. */
export function replace(sums: Sums, before: ClientDay, after: ClientDay): Sums {
  return add(remove(sums, before), after);
}

/** The same for many clients at a time. Pure. */
export function replaceAll(
  sums: Sums,
  clients: readonly { readonly before: ClientDay; readonly after: ClientDay }[],
): Sums {
  const each = clients.map(({ before, after }) => ({ before: contributionOf(before), after: contributionOf(after) }));
  const replaced = (of: keyof Sums): Moments =>
    replacedIn(
      sums[of],
      each.map(({ before, after }) => ({ before: before[of], after: after[of] })),
    );
  return { assigned: replaced("assigned"), load: replaced("load"), lcp: replaced("lcp") };
}

/** Sums of different clients together: of two objects, two cells or two periods. Pure. */
export function merge(a: Sums, b: Sums): Sums {
  return combine(a, b, 1n);
}

/** The same for both arms of several cells or classes. Pure. */
export function mergeArms(all: readonly Arms<Sums>[]): Arms<Sums> {
  return {
    offered: all.reduce((sums, { offered }) => merge(sums, offered), NO_SUMS),
    withheld: all.reduce((sums, { withheld }) => merge(sums, withheld), NO_SUMS),
  };
}

export function sumsJson({ assigned, load, lcp }: Sums): SumsJson {
  return { assigned: momentsJson(assigned), load: momentsJson(load), lcp: momentsJson(lcp) };
}

/** Reads sums from JSON. Never throws on data. */
export function parseSums(input: unknown): Parsed<Sums> {
  return parse(readSums, input);
}

export const readSums = object<Sums>({
  assigned: readMoments(ASSIGNED_TERMS),
  load: readMoments(TIMES_TERMS),
  lcp: readMoments(TIMES_TERMS),
});

function sumsOf({ assigned, load, lcp }: Contribution): Sums {
  return { assigned: momentsOf(assigned), load: momentsOf(load), lcp: momentsOf(lcp) };
}

function combine(a: Sums, b: Sums, sign: 1n | -1n): Sums {
  return {
    assigned: combined(a.assigned, b.assigned, sign),
    load: combined(a.load, b.load, sign),
    lcp: combined(a.lcp, b.lcp, sign),
  };
}
