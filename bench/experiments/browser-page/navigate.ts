import { errors, type Page } from "playwright-core";
import type { BrowserRow } from "./row.ts";
import { TIMEOUT_MS } from "./settings.ts";

/** What a browser tells of one navigation. Times since its start, milliseconds. */
export type Navigated = Pick<BrowserRow, "outcome"> & Partial<BrowserRow>;

/** A paint is reported a frame or two after it. */
const PAINT_SETTLES_MS = 150;

export async function navigate(page: Page, url: string): Promise<Navigated> {
  try {
    const response = await page.goto(url, { waitUntil: "load", timeout: TIMEOUT_MS });
    if (response?.status() !== 200) return { outcome: "failed", error: `status ${response?.status()}` };
    const altSvc = await response.headerValue("alt-svc");
    const answer = altSvc?.startsWith("h3=") === true ? "offer" : altSvc === "clear" ? "clear" : "none";
    return { outcome: "ok", answer, ...(await page.evaluate(readTiming, PAINT_SETTLES_MS)) };
  } catch (thrown) {
    const [error = ""] = (thrown as Error).message.split("\n");
    return thrown instanceof errors.TimeoutError
      ? { outcome: "timeout", error, loadMs: TIMEOUT_MS }
      : { outcome: "failed", error };
  }
}

/** Runs in the page. */
async function readTiming(settlesMs: number) {
  const paints: PerformanceEntry[] = [];
  const observer = new PerformanceObserver((list) => paints.push(...list.getEntries()));
  observer.observe({ type: "largest-contentful-paint", buffered: true });
  // The end of the load event is known after it, and paints are told of later.
  await new Promise((resolve) => {
    setTimeout(resolve, settlesMs);
  });
  const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  const resources = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
  if (navigation === undefined) throw new Error("the browser tells nothing of its navigation");
  const over = (protocol: string): number =>
    resources.filter(({ nextHopProtocol }) => nextHopProtocol === protocol).length;
  return {
    loadMs: navigation.loadEventEnd,
    lcpMs: paints.at(-1)?.startTime ?? null,
    ttfbMs: navigation.responseStart,
    connectMs: navigation.connectEnd - navigation.connectStart,
    documentProtocol: navigation.nextHopProtocol,
    resourcesH2: over("h2"),
    resourcesH3: over("h3"),
    resourceBytes: resources.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  };
}
