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
  /** Runs a load, and blocks until it ends. Load and result are JSON: bench/model/plan.ts has their types. */
  export function run(load: string): string;

  /** Writes a line to stdout, at once. */
  export function print(line: string): void;
}
