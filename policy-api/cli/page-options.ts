import type { OptionName, Options } from "./options.ts";

/** The options that choose a page of a list. */
export const PAGE_OPTIONS = ["limit", "before"] as const satisfies readonly OptionName[];
export type PageOptions = Pick<Options, (typeof PAGE_OPTIONS)[number]>;

/** Says how to see the next page. */
export function nextPageText(next: number | null): string {
  return next === null ? "" : `\n\nOlder ones: --before ${next}`;
}
