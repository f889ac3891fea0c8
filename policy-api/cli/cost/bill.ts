import type { PageCalls } from "./counted.ts";

/** When the prices below were read. */
export const PRICES_READ = "2026-11-23";
/** Where they stand. */
export const PRICES_FROM = [
  "https://developers.cloudflare.com/workers/platform/pricing/",
  "https://developers.cloudflare.com/durable-objects/platform/pricing/",
] as const;

/** A month of the Workers Paid plan, US dollars. */
const PLAN = 5;
/** What a month includes, and what a million more cost, US dollars. */
const PRICES = {
  invocations: { included: 10e6, perMillion: 0.3 },
  cpuMs: { included: 30e6, perMillion: 0.02 },
  objectCalls: { included: 1e6, perMillion: 0.15 },
  /** GB-seconds. */
  objectTime: { included: 400e3, perMillion: 12.5 },
  rowsWritten: { included: 50e6, perMillion: 1 },
  rowsRead: { included: 25e9, perMillion: 0.001 },
} as const;

/** Nobody has measured these on Cloudflare: of a page, and of a call of an object. */
export const ASSUMED = {
  /** CPU of an invocation, milliseconds. */
  cpuMs: 1,
  /** How long a call keeps its object awake, milliseconds. */
  callMs: 5,
  /** How many isolates are busy all the time. Each asks for the policy every 15 s, and tells its counts every 20 s. */
  isolates: 200,
} as const;

/** How often an isolate asks for the policy, and tells what it counted, seconds. */
const POLICY_S = 15;
const COUNTS_S = 20;
/** The counters of a region are written, and an alarm is set for it, at most so often, seconds. */
const COUNTS_WRITTEN_S = 8;
/** Where clients are. */
const REGIONS = 9;
const MONTH_S = 30 * 86_400;

/** What an object is billed for while it is awake, GB. */
const OBJECT_GB = 0.128;
/** A client, its network, its autonomous system, and the site. */
const ROWS_OF_A_LOOK_UP = 4;

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

/**
 * A month's bill. It counts the pages that pass the worker, and nothing else of the account. Storage is left out: what is
 * kept of a million clients takes less than the 5 GB that are included.
 */
export function billOf(counted: PageCalls, pageViews: number): Bill {
  const calls = counted.lookUps + counted.records + counted.alarms;
  // A page asks for the policy, and tells counts, at most once.
  const perPage = (inAMonth: number): number => Math.min(1, inAMonth / pageViews);
  const ownCalls = perPage((ASSUMED.isolates * MONTH_S) / POLICY_S) + perPage((ASSUMED.isolates * MONTH_S) / COUNTS_S);
  const countRows = 2 * perPage((REGIONS * MONTH_S) / COUNTS_WRITTEN_S);
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
    item("calls of objects", "objectCalls", calls + ownCalls),
    item("time of objects, GB-s", "objectTime", ((calls + ownCalls) * ASSUMED.callMs * OBJECT_GB) / 1_000),
    item("rows written", "rowsWritten", counted.rowsWritten + countRows),
    item("rows read", "rowsRead", counted.lookUps * ROWS_OF_A_LOOK_UP),
  ];
  const sum = (some: readonly Item[]): number => some.reduce((all, { price }) => all + price, PLAN);
  return { items, total: sum(items), passingOn: sum(worker(1)) };
}
