import type { PageQuery } from "./api.ts";
import type { OptionName, Options } from "./options.ts";
import { readWhole } from "./values.ts";

export const PAGE_OPTIONS = ["limit", "before"] as const satisfies readonly OptionName[];

/** Which page of a list. @throws Failure */
export function readPage({ limit, before }: Options): PageQuery {
  return {
    limit: limit === undefined ? undefined : readWhole(limit, "--limit", 1, 100),
    before: before === undefined ? undefined : readWhole(before, "--before", 0, Number.MAX_SAFE_INTEGER),
  };
}

/** How to see what comes after this page. */
export function nextPageText(next: number | null): string {
  return next === null ? "" : `\n\nOlder ones: --before ${next}`;
}
