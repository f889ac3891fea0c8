import { type PageCalls, PAGES_A_VISIT } from "./counted.ts";

/** When all prices below were read, and where they stand. */
export const PRICES_READ = "2026-11-27";
export const PRICES_FROM = [
  "https://developers.cloudflare.com/workers/platform/pricing/",
  "https://developers.cloudflare.com/durable-objects/platform/pricing/",
] as const;

/** A month of the Workers Paid plan, US dollars. */
const PLAN = 5;
/** What a month includes, and what a million more cost (of stored data: a GB more), US dollars. */
const PRICES = {
  /** What a worker asks itself, its subrequests, is not billed as invocations. */
  invocations: { included: 10e6, perMillion: 0.3 },
  cpuMs: { included: 30e6, perMillion: 0.02 },
  /** Each RPC, and each alarm that rings. */
  objectCalls: { included: 1e6, perMillion: 0.15 },
  /** GB-seconds. */
  objectTime: { included: 400e3, perMillion: 12.5 },
  rowsWritten: { included: 50e6, perMillion: 1 },
  rowsRead: { included: 25e9, perMillion: 0.001 },
  /** GB-months, on average over each day's peak. Billed since January 2026. */
  stored: { included: 5, perMillion: 0.2e6 },
} as const;

/** Nobody has measured these on Cloudflare: of a page, and of a call of an object. */
export const ASSUMED = {
  /** CPU of an invocation, milliseconds. */
  cpuMs: 1,
  /** How long a call keeps its object awake, milliseconds. */
  callMs: 5,
  /** How many isolates share the pages. */
  isolates: 200,
  /** How many of them are in a data centre: they share what they know. */
  isolatesOfADataCentre: 4,
} as const;

/** After so long a data centre asks what is in force, seconds (worker/policy-cache.ts). */
const POLICY_S = 15;
/**
 * An isolate sends its counts so long after the first of them, seconds, if pages come that take that over; a page alone holds them for
 * less, and another may take over in the last part of that (worker/pace.ts).
 */
const COUNTS_S = 60;
const HOLD_S = 25;
const TAKE_OVER_S = 15;
/** Each take-over adds at least 10 s. */
const TAKE_OVERS = 4;
/** The counters of a region are written, an alarm is set for it, and rings, at most so often, seconds. */
const COUNTS_WRITTEN_S = 8;
/** Where clients are. */
const REGIONS = 9;
const MONTH_S = 30 * 86_400;

/** What an object is billed for while it is awake, GB. */
const OBJECT_GB = 0.128;
/** A look-up reads one row of its client in each table of paths, of which there are at most so many. */
const ROWS_OF_A_LOOK_UP = 7;
/** A client's row is there for so long at most, days. */
const KEPT_DAYS = 73 / 24;

/** How many questions for what is in force a page of a data centre causes, if pages come at random. @param rate Its pages a second */
export function policyCallsAPage(rate: number): number {
  return 1 / (1 + rate * POLICY_S);
}

/** How often counts are sent for a page, at most, if pages come at random. @param rate Pages a second at an isolate */
export function countCallsAPage(rate: number): number {
  const isTakenOver = 1 - Math.exp(-rate * TAKE_OVER_S);
  return 1 / (1 + rate * (HOLD_S + (COUNTS_S - HOLD_S) * isTakenOver ** TAKE_OVERS));
}

interface Item {
  readonly name: string;
  readonly perPage: number;
  readonly perMonth: number;
  readonly included: number;
  /** US dollars. */
  readonly price: number;
}

interface Bill {
  readonly items: readonly Item[];
  /** US dollars, with the plan's own price. */
  readonly total: number;
  /** What a worker that does nothing but pass pages on would cost: the plan, invocations and CPU. */
  readonly passingOn: number;
}

/** A month's bill. It counts the pages that pass the worker, and nothing else of the account. */
export function billOf(counted: PageCalls, pageViews: number): Bill {
  const rate = pageViews / MONTH_S / ASSUMED.isolates;
  const counts = countCallsAPage(rate);
  const countsWritten = Math.min(counts, (REGIONS * MONTH_S) / COUNTS_WRITTEN_S / pageViews);
  const calls =
    counted.lookUps +
    counted.records +
    counted.alarms +
    policyCallsAPage(rate * ASSUMED.isolatesOfADataCentre) +
    counts +
    countsWritten;
  const item = (name: string, kind: keyof typeof PRICES, ofAPage: number): Item => {
    const { included, perMillion } = PRICES[kind];
    const perMonth = ofAPage * pageViews;
    return { name, perPage: ofAPage, perMonth, included, price: (Math.max(0, perMonth - included) / 1e6) * perMillion };
  };
  const worker = (invocations: number): Item[] => [
    item("invocations", "invocations", invocations),
    item("CPU, ms", "cpuMs", invocations * ASSUMED.cpuMs),
  ];
  const items = [
    ...worker(counted.invocations),
    item("calls of objects", "objectCalls", calls),
    item("time of objects, GB-s", "objectTime", (calls * ASSUMED.callMs * OBJECT_GB) / 1_000),
    item("rows written", "rowsWritten", counted.rowsWritten + 2 * countsWritten),
    item("rows read", "rowsRead", counted.lookUps * ROWS_OF_A_LOOK_UP),
    item("stored, GB", "stored", ((counted.bytesPerClient / 1e9 / PAGES_A_VISIT) * KEPT_DAYS) / 30),
  ];
  const sum = (some: readonly Item[]): number => some.reduce((all, { price }) => all + price, PLAN);
  return { items, total: sum(items), passingOn: sum(worker(1)) };
}
