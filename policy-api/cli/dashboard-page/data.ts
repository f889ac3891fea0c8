import type { Health, Stats } from "../../api/contract/deployment.ts";

/** A part of the page, or why it is not there: a sentence. */
export type Part<T> = { readonly value: T } | { readonly fault: string };

/** What the page shows, of one moment. */
export interface DashboardData {
  /** The server that was asked. */
  readonly origin: string;
  readonly atMs: number;
  readonly hours: number;
  readonly health: Part<Health>;
  /** What is in force, as `status` prints it. */
  readonly inForce: Part<string>;
  /** The version that everyone has, as the server sent it. */
  readonly everyone: Part<{ readonly version: number; readonly policy: unknown }>;
  readonly stats: Part<Stats>;
  /** What `results` prints. */
  readonly results: Part<string>;
}
