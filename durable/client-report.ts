import type { AltSvcAnswer } from "../policy-api/decision/offers.ts";
import type { AskedPage, PageNews } from "../policy-api/visitors/page-outcome.ts";
import type { PathSample } from "../policy-api/decision/sample.ts";

/**
 * What the store knows a client by, one field for each level. They are keyed hashes: the store never sees an address.
 */
export interface ClientKeys {
  readonly client: string;
  readonly network: string;
  /** The number of the network's autonomous system, if the platform gives it. */
  readonly asn?: number | undefined;
  /** The country, likewise: two letters. */
  readonly country?: string | undefined;
}

/** What an isolate has gathered about one client since it last called the object. */
export interface ClientReport extends ClientKeys {
  readonly samples: readonly PathSample[];
  readonly answers: readonly AltSvcAnswer[];
  /** Pages of drawn arms that were asked to report, as they were decided about. Absent: none. */
  readonly decided?: readonly AskedPage[] | undefined;
  /** What its pages said of their loads. Absent: nothing. */
  readonly pages?: readonly PageNews[] | undefined;
}

/** How many pages' reports did not count. */
export interface RefusedPages {
  /** They were counted before. */
  readonly replayed: number;
  /** Their clients have reported too often. */
  readonly crowded: number;
}
