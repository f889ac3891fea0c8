import type { PageDecision } from "../../policy-api/visitors/page-outcome.ts";
import type { StoredClient } from "../stores.ts";

/** A page that is asked to report, and what it takes along. */
export interface Asked {
  readonly decision: PageDecision;
  readonly client: StoredClient;
  readonly token: string;
  /** Whether the worker puts the reporter's tag into the page. */
  readonly inject: boolean;
}
