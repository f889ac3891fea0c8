import type { Answer } from "../policy-api/core/offers.ts";
import type { PathSample } from "../policy-api/core/sample.ts";

/**
 * What the store knows a client by, one field for each level. They are keyed hashes: the store never sees an address.
 */
export interface ClientKeys {
  readonly client: string;
  readonly network: string;
  /** The number of the network's autonomous system, if the platform gives it. */
  readonly asn?: number | undefined;
}

/** What an isolate has gathered about one client since it last called the object. */
export interface ClientReport extends ClientKeys {
  readonly samples: readonly PathSample[];
  readonly answers: readonly Answer[];
}
