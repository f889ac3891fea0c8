import type { Answer } from "../policy-api/core/offers.ts";
import type { PathSample } from "../policy-api/core/sample.ts";

/** Keyed hashes; the store never sees an address. */
export interface ClientKeys {
  readonly client: string;
  readonly network: string;
  /** The network's autonomous system, where the platform tells it: an object keeps what it met of one. */
  readonly asn?: number | undefined;
}

/** What one isolate gathered about one client since it last told the object. */
export interface ClientReport extends ClientKeys {
  readonly samples: readonly PathSample[];
  readonly answers: readonly Answer[];
}
