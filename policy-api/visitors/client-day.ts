import { fitting, integer, object, type Read } from "../decision/parse.ts";

/**
 * Parts of one. Logarithms are kept as whole numbers of parts, so that sums do not depend on the order of adding, and what
 * was added can be taken out again to the last digit. 1/4096 is 0.02 % of a time.
 */
export const SCALE = 4096;

/** A number as whole parts. */
export function fixed(value: number): number {
  return Math.round(value * SCALE);
}

/** One time of a page, and what it was expected to be by what the server knew before the decision. Milliseconds. */
export interface Timed {
  readonly ms: number;
  readonly expectedMs: number;
}

/** What a page says about itself. */
export interface ReportedTimes {
  readonly overH3: boolean;
  /** Until the load event. */
  readonly load: Timed;
  /** Largest Contentful Paint, where the browser tells it. */
  readonly lcp?: Timed | undefined;
}

/**
 * How far ln(time) may be from what was expected: a factor of 4 either way. A page out of reach counts as one at the bound.
 * Turned down: bounds that do not depend on the page, such as 50 ms to 60 s. They let one page weigh five times as much.
 */
export const REACH = Math.log(4);
export const REACH_FIXED = fixed(REACH);

/**
 * How many pages a client counts for at most. A client with more of them counts for this many, each as its mean page.
 *
 * Pages of a client share its path. Where two of them agree with a correlation of one half, a client with many pages is
 * worth two clients with one, and no more. Each further page would mostly add to what a client that lies can move: at 2, the
 * 5 % of clients that lie most are about 6 % of all that counts; at 4 they would be 9 %.
 */
export const PAGES_COUNTED = 2;

/** A client's further pages in a period are not looked at: no visitor opens so many. */
export const PAGES_MAX = 1000;

/** An hour, milliseconds. What takes longer is a clock that was set, or a page that slept. */
export const TIME_MAX_MS = 3_600_000;

const NO_TIMES: Times = { pages: 0, logs: 0, predicted: 0, overH3: 0, atBound: 0 };
export const EMPTY_DAY: ClientDay = { decided: 0, load: NO_TIMES, lcp: NO_TIMES };

/** Adds a page that was decided about. Pure. */
export function addDecided(day: ClientDay): ClientDay {
  return day.decided >= PAGES_MAX ? day : { ...day, decided: day.decided + 1 };
}

/**
 * Adds what a page reported. Undefined if that is no time, or if the client would report more pages than were decided about. The same
 * page must not be added twice. Pure.
 */
export function addReport(day: ClientDay, { overH3, load, lcp }: ReportedTimes): ClientDay | undefined {
  if (!isTimed(load) || (lcp !== undefined && !isTimed(lcp)) || day.load.pages >= day.decided) return undefined;
  return {
    ...day,
    load: plus(day.load, load, overH3),
    lcp: lcp === undefined ? day.lcp : plus(day.lcp, lcp, overH3),
  };
}

function isTimed({ ms, expectedMs }: Timed): boolean {
  return ms > 0 && ms <= TIME_MAX_MS && expectedMs >= 1 && expectedMs <= TIME_MAX_MS;
}

function plus(times: Times, { ms, expectedMs }: Timed, overH3: boolean): Times {
  const predicted = fixed(Math.log(expectedMs / 1000));
  const beyond = fixed(Math.log(ms / expectedMs));
  const within = Math.min(REACH_FIXED, Math.max(-REACH_FIXED, beyond));
  return {
    pages: times.pages + 1,
    logs: times.logs + predicted + within,
    predicted: times.predicted + predicted,
    overH3: times.overH3 + (overH3 ? 1 : 0),
    atBound: times.atBound + (within === beyond ? 0 : 1),
  };
}

const LOGS_MAX = fixed(Math.log(TIME_MAX_MS) + REACH) * PAGES_MAX;
const readTimes = object({
  pages: integer(0, PAGES_MAX),
  /** Of ln(time / 1 s), within REACH of what was expected; fixed point. */
  logs: integer(-LOGS_MAX, LOGS_MAX),
  /** Of ln(expected time / 1 s), the covariate; fixed point. */
  predicted: integer(-LOGS_MAX, LOGS_MAX),
  overH3: integer(0, PAGES_MAX),
  /** Pages whose time was out of REACH. */
  atBound: integer(0, PAGES_MAX),
});
/** Sums over a client's reported pages. */
export type Times = Read<typeof readTimes>;

/** Reads a stored row back. */
export const readClientDay = fitting(
  object({
    /** Pages that were decided about, whether or not they reported. */
    decided: integer(0, PAGES_MAX),
    load: readTimes,
    lcp: readTimes,
  }),
  ({ decided, load, lcp }, fault) => {
    if (load.pages > decided) fault("/load/pages", "must not be more than decided");
    if (lcp.pages > load.pages) fault("/lcp/pages", "must not be more than those of load");
  },
);

/**
 * What one client did in one period of assignment, in one cell of the gain table and one position. Plain JSON, of bounded
 * size. A client of two periods counts as two clients: its arm is drawn anew.
 */
export type ClientDay = Read<typeof readClientDay>;
