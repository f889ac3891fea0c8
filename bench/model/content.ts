import type { ContentBytes } from "../../policy-api/decision/policy.ts";
import { BROWSER_PAGES, browserBytes, type BrowserPage, browserPath } from "./browser-pages.ts";

/** Sizes of images that experiments ask for: what a page of each transfers is told to the worker as routes. */
const SIZES = [10_000_000, 1_000_000, 200_000, 100_000] as const;

/** The document of a page with an image of so many bytes. The origin serves all of them alike. */
export function documentOf(imageBytes: number): string {
  return `/index.html/${imageBytes}`;
}

/** What each of these documents' pages transfers. The longest path first, as one begins with another. */
export function contentRoutes(): ContentBytes["routes"] {
  return [
    ...SIZES.map((bytes) => ({ pathPrefix: documentOf(bytes), bytes })),
    ...(Object.keys(BROWSER_PAGES) as BrowserPage[]).map((page) => ({
      pathPrefix: browserPath(page),
      bytes: browserBytes(page),
    })),
  ];
}
