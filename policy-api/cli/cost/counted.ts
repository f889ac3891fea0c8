/** What a page calls for, on average over visits of three pages by clients that nobody knows. Without reports of pages. */
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
}

/**
 * PageCalls in workerd by worker/page-price.test.ts, which fails if it counts more: visitors of Cloudflare's network, 0.4 pages a second
 * at an object, each page at one of four isolates of one data centre at random, the policy that is shipped for cubic. `reporting` has `exploration` of 0.04
 * and `reports` of 0.05, and losses as in worker/page-price.test.ts. The numbers are the most that was counted in several runs, rounded up.
 */
export const COUNTED: Readonly<Record<"plain" | "reporting", PageCalls>> = {
  plain: { invocations: 1, lookUps: 0.42, records: 0.36, alarms: 0.01, rowsWritten: 0.36 },
  reporting: { invocations: 1.07, lookUps: 0.44, records: 0.45, alarms: 0.03, rowsWritten: 0.55 },
};
