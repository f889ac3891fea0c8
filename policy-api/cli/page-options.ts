import type { OptionName, Options } from "./options.ts";

/** Which page of a list. */
export const PAGE_OPTIONS = ["limit", "before"] as const satisfies readonly OptionName[];
export type PageOptions = Pick<Options, (typeof PAGE_OPTIONS)[number]>;

/** How to see what comes after this page. */
export function nextPageText(next: number | null): string {
  return next === null ? "" : `\n\nOlder ones: --before ${next}`;
}
