// Clients that tests of several rooms share. Nothing that is deployed imports it.
import { addDecided, addReport, type ClientDay, EMPTY_DAY, type ReportedTimes } from "./client-day.ts";
import type { Arms } from "./intervals.ts";
import { NO_SUMS, replaceAll, type Sums } from "./sums.ts";

/** Repeatable numbers from 0 to 1 (mulberry32): tests need them to be spread, and no more. */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A report of a page that was expected to take a second. */
export function report(ms: number, over: Partial<ReportedTimes> = {}): ReportedTimes {
  return { overH3: false, load: { ms, expectedMs: 1000 }, ...over };
}

/** A client with these reports, and pages that did not report. */
export function clientDay(reports: readonly ReportedTimes[], unreported = 0): ClientDay {
  let day = EMPTY_DAY;
  for (let page = 0; page < reports.length + unreported; page++) day = addDecided(day);
  for (const one of reports) {
    const added = addReport(day, one);
    if (added === undefined) throw new Error("A test's report was refused.");
    day = added;
  }
  return day;
}

/** The sums with one more client's row. */
export function add(sums: Sums, day: ClientDay): Sums {
  return replaceAll(sums, [{ before: EMPTY_DAY, after: day }]);
}

export function sumOf(days: readonly ClientDay[]): Sums {
  return replaceAll(
    NO_SUMS,
    days.map((after) => ({ before: EMPTY_DAY, after })),
  );
}

export interface Drawn {
  readonly clients: number;
  readonly seed?: number;
  /** ln of what HTTP/3 saves. */
  readonly saves?: number;
  /** The share of clients that use HTTP/3. */
  readonly overH3?: number;
  /** The share of pages that do not report. */
  readonly missing?: number;
  /** Half of the range of ln(time / expected). */
  readonly spread?: number;
}

/** An arm's clients: one to four pages, times spread evenly, expected times of 0.5 to 2 s. */
export function drawnDays({ clients, seed = 1, saves = 0, overH3 = 0, missing = 0, spread = 0.5 }: Drawn): ClientDay[] {
  const next = numbers(seed);
  return Array.from({ length: clients }, () => {
    const usesH3 = next() < overH3;
    const expectedMs = 500 * 4 ** next();
    const own = (next() - 0.5) * spread;
    const pages = 1 + Math.floor(next() * 4);
    const reports: ReportedTimes[] = [];
    for (let page = 0; page < pages; page++) {
      const beyond = own + (next() * 2 - 1) * spread - (usesH3 ? saves : 0);
      if (next() >= missing) reports.push({ overH3: usesH3, load: { ms: expectedMs * Math.exp(beyond), expectedMs } });
    }
    return clientDay(reports, pages - reports.length);
  });
}

export function drawnArms(offered: Drawn, withheld: Drawn): Arms<Sums> {
  return { offered: sumOf(drawnDays(offered)), withheld: sumOf(drawnDays({ seed: 2, ...withheld })) };
}
