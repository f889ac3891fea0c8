/** How many pages a visit has, by a client that nobody knows. */
export const PAGES_A_VISIT = 3;

/** What a page calls for, on average over such visits. */
export interface PageCalls {
  /** Invocations of the worker: pages, their reports, and the reporter's script, once a visit. */
  readonly invocations: number;
  /** Calls of objects: look-ups, and news that isolates send them. */
  readonly lookUps: number;
  readonly records: number;
  /** Alarms that ring. */
  readonly alarms: number;
  /**
   * As Cloudflare bills them: rows with their index entries, and alarms that are set. Rows are forgotten by dropping their table, which workerd
   * counts as no row.
   */
  readonly rowsWritten: number;
  /** What the worker asks for a page: the origin, objects, and the data centre's cache. None is billed as a request of the worker. */
  readonly subrequests: number;
  /** What a client takes in an object's database, bytes: its row, and its share of the schema and of pages that are not full. */
  readonly bytesPerClient: number;
}

/**
 * PageCalls in workerd by worker/page-price.test.ts, which fails if it counts more: visitors of Cloudflare's network, 0.4 pages a second
 * at an object, each page at one of four isolates of one data centre at random, the policy that is shipped for cubic. `reporting` has `exploration` of 0.04
 * and `reports` of 0.05, and losses as in worker/page-price.test.ts. Rounded up.
 */
export const COUNTED: Readonly<Record<"plain" | "reporting", PageCalls>> = {
  plain: {
    invocations: 1,
    lookUps: 0.34,
    records: 0.15,
    alarms: 0.01,
    rowsWritten: 0.2,
    subrequests: 3.8,
    bytesPerClient: 730,
  },
  reporting: {
    invocations: 1.07,
    lookUps: 0.37,
    records: 0.19,
    alarms: 0.01,
    rowsWritten: 0.29,
    subrequests: 3.8,
    bytesPerClient: 640,
  },
};
