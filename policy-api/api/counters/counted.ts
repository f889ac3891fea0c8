import { type Family, type Key, readKey } from "./families.ts";

/** How often each thing happened. Keys are those of families.ts. */
export type Counted = Readonly<Record<Key, number>>;

/** What an isolate counted since its last delta. */
export interface Delta {
  /** Drawn by the isolate when it began. */
  readonly isolate: string;
  /** From 1. What got no answer is sent again under the same number, so that it counts once. */
  readonly number: number;
  readonly counted: Counted;
}

export const HOUR_MS = 3_600_000;
/** Hours that are kept one by one: 31 days. What is older is in the totals alone. */
export const HOURS_KEPT = 744;

/** What was counted in one hour. */
export interface Hour {
  /** Since the epoch, in hours. */
  readonly hour: number;
  readonly counted: Counted;
}

/** What one store of counters holds. */
export interface Tally {
  /** The first hour that was counted. Undefined: nothing was. */
  readonly sinceHour: number | undefined;
  readonly totals: Counted;
  /** Those that were asked for, oldest first; hours without anything are missing. */
  readonly hours: readonly Hour[];
}

export const NO_TALLY: Tally = { sinceHour: undefined, totals: {}, hours: [] };

/** A key of this release or of another: what a newer one counted must outlast a rollback. */
const KEY = /^[a-z]\w{0,39}(?:\|[\w.-]{1,40}){0,8}$/;
/** More than any release counts. */
const KEYS_MAX = 2_000;

/** Adds up. What is no key, or no count, is left out. */
export function sumOf(parts: readonly Counted[]): Counted {
  const sums = new Map<Key, number>();
  for (const part of parts)
    for (const [key, count] of Object.entries(part))
      if (isCount(count) && (sums.has(key) || (sums.size < KEYS_MAX && KEY.test(key))))
        sums.set(key, (sums.get(key) ?? 0) + count);
  return Object.fromEntries(sums);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

/** What several stores hold together. */
export function merged(tallies: readonly Tally[]): Tally {
  const since = tallies.flatMap(({ sinceHour }) => sinceHour ?? []);
  const hours = Map.groupBy(
    tallies.flatMap((tally) => tally.hours),
    ({ hour }) => hour,
  );
  return {
    sinceHour: since.length === 0 ? undefined : Math.min(...since),
    totals: sumOf(tallies.map(({ totals }) => totals)),
    hours: [...hours]
      .toSorted(([a], [b]) => a - b)
      .map(([hour, parts]) => ({ hour, counted: sumOf(parts.map(({ counted }) => counted)) })),
  };
}

/** Of one family: the counts by the value of one label, and those above 0 alone. */
export function countsBy(counted: Counted, family: Family, label: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [key, count] of Object.entries(counted)) {
    const read = readKey(key);
    const value = read?.family === family ? read.labels[label] : undefined;
    if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + count);
  }
  return counts;
}
