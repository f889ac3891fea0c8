import type { Answer, OfferState } from "../policy-api/core/offers.ts";
import type { PathSample } from "../policy-api/core/sample.ts";
import type { PathState } from "../policy-api/core/estimator.ts";

/** Keyed hashes; the store never sees an address. */
export interface ClientKeys {
  readonly client: string;
  readonly network: string;
}

/** What one isolate gathered about one client since it last told the object. */
export interface ClientReport extends ClientKeys {
  readonly samples: readonly PathSample[];
  readonly answers: readonly Answer[];
}

export interface LookUpReply {
  readonly client?: PathState;
  readonly network?: PathState;
  readonly offers?: OfferState;
}
