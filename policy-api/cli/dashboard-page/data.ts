import type { Health, Stats } from "../../api/contract/deployment.ts";

/** A part of the page, or why it is not there: a sentence. */
export type Part<T> = { readonly value: T } | { readonly fault: string };

/** What a page shows of results: the sentence, whose time was saved, and what stands against it. */
export interface SavedView {
  readonly version: number;
  readonly sentence: string;
  /** Whose, clients offered / not offered, saved in percent, claim. Only those of whom any client was compared. */
  readonly rows: readonly (readonly [whose: string, clients: string, saved: string, claim: string])[];
  readonly doubts: readonly string[];
}

/** An answer that a command gave, for a page to show later. */
export interface KeptAnswer {
  /** As it was typed. */
  readonly command: string;
  readonly atMs: number;
  readonly text: string;
}

/** What the page shows, of one moment. */
export interface DashboardData {
  /** What it says besides about what it shows. */
  readonly note: string | undefined;
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
  readonly results: Part<SavedView>;
  /** The last answer of a command on this machine; null: none is kept. */
  readonly doctor: Part<KeptAnswer | null>;
  readonly cost: Part<KeptAnswer | null>;
}
