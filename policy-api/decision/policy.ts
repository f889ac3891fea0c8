import type { GainTable } from "./gain-table.ts";
import type { VisitProfile } from "./visit.ts";

/**
 * `observe`: measure, and touch no header. `fixed-h2`: never offer, and take offers back. `fixed-h3`: always offer.
 * `adaptive`: offer if the policy's method says so.
 */
export type Mode = "observe" | "fixed-h2" | "fixed-h3" | "adaptive";

export const MODES = ["observe", "fixed-h2", "fixed-h3", "adaptive"] as const satisfies readonly Mode[];

/** Gains that were measured on one stack: this project's own method. */
export interface GainsMethod {
  readonly kind: "gains";
  readonly table: GainTable;
  /** How many clients have each of the table's losses, as shares: what is thought of a client before it was measured. */
  readonly mix: readonly number[];
  /** Where the mix comes from, in words. */
  readonly mixAbout?: string | undefined;
}

/** Where both protocols take equally long, at one rate. HTTP/3 is offered beyond it. */
export interface ZeroLine {
  readonly deliveryRateBps: number;
  /** Increasing. */
  readonly rttMs: readonly number[];
  /** For each RTT, the loss above which HTTP/3 is faster. Above 1 if it never is. Linear in between. */
  readonly lossRatio: readonly number[];
}

/** The published method (Ohashi, Kitaguchi, Yamaoka 2020): one line for each rate that was measured. */
export interface ZeroLinesMethod {
  readonly kind: "zero-lines";
  readonly lines: readonly ZeroLine[];
  /** The answer to a client that was not measured yet. The published method begins on HTTP/3. */
  readonly unknown: "h3" | "nothing";
}

/** HTTP/3 if the RTT is at least this. */
export interface RttThresholdMethod {
  readonly kind: "rtt-threshold";
  readonly rttMs: number;
}

/** HTTP/3 for a share of clients, whatever their paths. */
export interface ShareMethod {
  readonly kind: "share";
  /** 0 to 1. */
  readonly share: number;
}

/** How an adaptive policy finds out for which clients HTTP/3 is faster. */
export type Method = GainsMethod | ZeroLinesMethod | RttThresholdMethod | ShareMethod;

/** What sessions transfer, bytes: that of the first route whose prefix begins the document's path, else the default. */
export interface ContentBytes {
  readonly default: number;
  readonly routes: readonly { readonly pathPrefix: string; readonly bytes: number }[];
}

/** Hysteresis over the expected gain of the pages that an offer changes, ln(HTTP/2's time / HTTP/3's). */
export interface Margin {
  /** An offer begins if the expected gain is above this. */
  readonly enter: number;
  /** An offer ends if the expected gain is at or below this. */
  readonly leave: number;
}

/** Where a policy's gains come from, so that they can be made again. */
export interface Provenance {
  /** Server software with versions. */
  readonly stack: string;
  /** That of the server's TCP. */
  readonly congestionControl: string;
  /** The command that made the policy. */
  readonly command: string;
  /** SHA-256 of the measurements that it was made from, hexadecimal. */
  readonly rowsSha256: string;
  /** How many loads count. */
  readonly loads: number;
  readonly cells: number;
}

/** Another mode for some requests. All its conditions must hold, and the first rule that matches counts. */
export interface Rule {
  readonly pathPrefix?: string;
  readonly asn?: readonly number[];
  /** ISO 3166-1 alpha-2. */
  readonly country?: readonly string[];
  readonly mode: Mode;
}

/** Which clients' pages report how long they took. */
export interface Reports {
  /** The share of clients, 0 to 1, whose pages are asked to. A client is in the share always or never. */
  readonly share: number;
  /** Whether the worker puts the reporter's tag into the pages that it asks. Otherwise the owner has put it there. */
  readonly inject: boolean;
}

export interface Policy {
  readonly schema: 3;
  readonly mode: Mode;
  /** What it was made from, and by whom, in words. */
  readonly source?: string | undefined;
  readonly provenance?: Provenance | undefined;
  /** Needed if any mode is adaptive. */
  readonly method?: Method | undefined;
  readonly contentBytes: ContentBytes;
  /** How the site is visited. */
  readonly visit: VisitProfile;
  /** Bounds of an offer's life (RFC 7838 section 3.1), seconds. */
  readonly ma: { readonly minS: number; readonly maxS: number };
  readonly margin: Margin;
  /** The share of clients, 0 to 1, that draw their answer for a period of assignment, so that predictions can be checked. */
  readonly exploration: { readonly share: number };
  readonly reports: Reports;
  readonly rules: readonly Rule[];
}

/** A day, which is what CDNs advertise. A longer offer would outlive too many decisions. */
export const MA_MAX_S = 86_400;

/** How long a worker isolate uses a policy before it asks for a newer one, milliseconds. */
export const POLICY_CACHE_MS = 15_000;
/**
 * From this age on, a request waits for a renewal (within the budget) before it uses a policy, milliseconds. So every
 * isolate obeys a change after this long, while the store answers.
 */
export const POLICY_OUTDATED_MS = 30_000;

/** A stack that nobody has measured is only observed. */
export const INITIAL_POLICY: Policy = {
  schema: 3,
  mode: "observe",
  contentBytes: { default: 1_000_000, routes: [] },
  visit: {
    pages: [0.45, 0.2, 0.15, 0.1, 0.1],
    returns: [
      { afterS: 600, share: 0.1 },
      { afterS: 10_800, share: 0.15 },
      { afterS: 86_400, share: 0.2 },
    ],
  },
  ma: { minS: 60, maxS: 3_600 },
  margin: { enter: 0.005, leave: -0.005 },
  exploration: { share: 0 },
  reports: { share: 0, inject: false },
  rules: [],
};
