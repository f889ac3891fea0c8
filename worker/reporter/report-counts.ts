/**
 * What became of the reports that reached this isolate. `accepted` ones passed every check here and went to the object, which
 * then refuses those that it counted before (`replayed`) and those beyond a client's share (`crowded`, which this isolate says
 * too where too many wait to be told).
 */
export const REPORT_FATES = [
  "accepted",
  "replayed",
  "crowded",
  /** More bytes than a report has, or a request that broke off. */
  "oversized",
  "broken",
  /** From a page of another site. */
  "cross-site",
  /** No report. */
  "malformed",
  /** This deployment did not write its token, or wrote it for another client. */
  "unsigned",
  "late",
  /** Figures that no page of this decision can show. */
  "absurd",
  /** No address that can be believed, or no key yet. */
  "unready",
] as const;
export type ReportFate = (typeof REPORT_FATES)[number];
