import type { PageQuery } from "../contract/fields.ts";
import type { OptionName, Options } from "./options.ts";
import { readVersion, readWhole } from "./values.ts";

export const PAGE_OPTIONS = ["limit", "before"] as const satisfies readonly OptionName[];

/** Which page of a list. @throws Failure */
export function readPage({ limit, before }: Options): PageQuery {
  if (limit !== undefined) readWhole(limit, "--limit", 1, 100);
  if (before !== undefined) readVersion(before, "--before");
  return { limit, before };
}

/** How to see what comes after this page. */
export function nextPageText(next: number | null): string {
  return next === null ? "" : `\n\nOlder ones: --before ${next}`;
}
