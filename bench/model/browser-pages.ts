import type { Policy } from "../../policy-api/decision/policy.ts";

export type AssetKind = "css" | "js" | "png";

/** The pages that a real browser loads, and the files of each; published of a site behind a CDN (browser-page). */
export const BROWSER_PAGES = {
  /** 15 requests, 1.9 MB: a document, a style sheet, two scripts, a large image, ten others. */
  page: [
    ["css", 40_000],
    ["js", 160_000],
    ["js", 160_000],
    ["png", 500_000],
    ...Array.from({ length: 10 }, () => ["png", 102_000] as const),
  ],
  document: [],
  /** A third of its bytes, and three times as many. */
  small: [["css", 20_000], ["js", 120_000], ...Array.from({ length: 8 }, () => ["png", 60_000] as const)],
  large: [["css", 60_000], ["js", 600_000], ...Array.from({ length: 28 }, () => ["png", 180_000] as const)],
  /** With the document 21.7 MB. */
  images: Array.from({ length: 6 }, () => ["png", 3_613_000] as const),
} as const satisfies Readonly<Record<string, readonly (readonly [kind: AssetKind, bytes: number])[]>>;

export type BrowserPage = keyof typeof BROWSER_PAGES;

/** What a navigation may take, milliseconds. */
export const PAGE_TIMEOUT_MS = 120_000;
export const DOCUMENT_BYTES = 20_000;
export const BROWSER_PREFIX = "/browser/";
/** The host of pages that browsers load. */
export const SITE_HOST = "h3.test";
/** The host of files, where an arm has one, at the default port: a browser of the bench knows where each of its lanes has it. */
export const FILES_HOST = "files.test";
/** Of a page's URL: h3, clear or none, which is what the origin itself then says by Alt-Svc, without a worker. */
export const OFFER_PARAMETER = "offer";

export function browserPath(page: BrowserPage): string {
  return `${BROWSER_PREFIX}${page}`;
}

/** The size of the document and all that it loads. */
export function browserBytes(page: BrowserPage): number {
  return BROWSER_PAGES[page].reduce<number>((sum, [, bytes]) => sum + bytes, DOCUMENT_BYTES);
}

/** Sizes of images that experiments ask for: what a page of each transfers is told to the worker as routes. */
const SIZES = [10_000_000, 1_000_000, 200_000, 100_000] as const;

/** The document of a page with an image of so many bytes. The origin serves all of them alike. */
export function documentOf(imageBytes: number): string {
  return `/index.html/${imageBytes}`;
}

/** What each of these documents' pages transfers. The longest path first, as one begins with another. */
export function contentRoutes(): Policy["contentBytes"]["routes"] {
  return [
    ...SIZES.map((bytes) => ({ pathPrefix: documentOf(bytes), bytes })),
    ...(Object.keys(BROWSER_PAGES) as BrowserPage[]).map((page) => ({
      pathPrefix: browserPath(page),
      bytes: browserBytes(page),
    })),
  ];
}
