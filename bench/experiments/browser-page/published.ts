import type { BrowserPage } from "../../model/browser-pages.ts";

/** Of each page and protocol. */
export const PUBLISHED_LOADS = 50;

/** Published (browser-page): a site behind CloudFront, a browser's developer tools, cache off. Milliseconds. */
export const PUBLISHED_BROWSER: readonly {
  readonly page: BrowserPage;
  readonly about: string;
  readonly linkMbps: number;
  readonly h2Ms: number;
  readonly h3Ms: number;
}[] = [
  { page: "page", about: "15 requests, 1.9 MB", linkMbps: 900, h2Ms: 99.26, h3Ms: 99.1 },
  { page: "document", about: "the document alone", linkMbps: 900, h2Ms: 4.88, h3Ms: 6.08 },
  { page: "images", about: "six large images, 21.7 MB", linkMbps: 350, h2Ms: 472.76, h3Ms: 889.98 },
];
