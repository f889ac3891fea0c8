import type { Activation } from "../../api/contract/policies.ts";
import type { Health, Stats } from "../../api/contract/deployment.ts";
import type { Results } from "../../api/contract/results.ts";

/** A part of the page, or why it is not there: a sentence. */
export type Part<T> = { readonly value: T } | { readonly fault: string };

/** What the page shows, of one moment. */
export interface DashboardData {
  /** The server that was asked. */
  readonly origin: string;
  readonly atMs: number;
  readonly hours: number;
  readonly health: Part<Health>;
  readonly activation: Part<Activation>;
  /** The policy that everyone has, as the server sent it. */
  readonly policy: Part<unknown>;
  readonly stats: Part<Stats>;
  readonly results: Part<Results>;
}
