// What k6 gives to scripts, as far as those of this folder use it.

/** What -e sets. */
declare const __ENV: Readonly<Record<string, string | undefined>>; // oxlint-disable-line no-underscore-dangle

/** Of the virtual user, from 1. */
declare const __VU: number; // oxlint-disable-line no-underscore-dangle

declare module "k6" {
  export function sleep(seconds: number): void;
  export function check<T>(value: T, checks: Readonly<Record<string, (value: T) => boolean>>): boolean;
}

/** The extension. */
declare module "k6/x/adaptive-h3" {
  // An ambient module takes types of a relative file in no other way.
  /* oxlint-disable typescript/consistent-type-imports */
  type LoadResult = import("../../model/plan.ts").LoadResult;
  type Plan = import("../../model/plan.ts").Plan;
  type Protocol = import("../../model/plan.ts").Protocol;
  /* oxlint-enable typescript/consistent-type-imports */

  /** Runs a load and blocks until it ends, like http.get. Throws only for a load that makes no sense. */
  export function load(load: Plan["loads"][number] & Partial<Pick<Plan, "network" | "control">>): LoadResult;

  export interface VisitOptions {
    /** h2 */
    firstProtocol?: Protocol;
    /** background */
    switch?: "wait" | "background";
    /** Paths that every page loads after its document. */
    subresources?: readonly string[];
    /** How often the page is loaded within the session (1), and the pause between. */
    pages?: number;
    pauseMs?: number;
    /** 6 */
    parallel?: number;
    /** 60,000 */
    timeoutMs?: number;
    clientAddress?: string;
    /** PEM of the certificate to trust. */
    caFile?: string;
    tags?: Readonly<Record<string, string>>;
  }

  /** A load of one session, of a URL. */
  export function visit(url: string, options?: VisitOptions): LoadResult;

  /** Writes a line of JSON to stdout, at once. */
  export function print(value: object): void;
}
