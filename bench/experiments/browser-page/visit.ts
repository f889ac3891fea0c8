import { setTimeout as pause } from "node:timers/promises";
import { type Browser, errors, type Page } from "playwright-core";
import { TIMEOUT_MS } from "./settings.ts";

/** What a browser saw of one navigation. Times since its start, milliseconds. */
export interface Navigated {
  readonly startedMs: number;
  readonly endedMs: number;
  readonly error: string;
  readonly altSvc: string;
  readonly timing: Timing | undefined;
  readonly isTimeout: boolean;
}

export interface Timing {
  readonly loadMs: number;
  readonly lcpMs: number | null;
  readonly ttfbMs: number;
  readonly connectMs: number;
  readonly documentProtocol: string;
  readonly resourcesH2: number;
  readonly resourcesH3: number;
  readonly resourceBytes: number;
}

/** A paint is reported a frame or two after it. */
const PAINT_SETTLES_MS = 150;

/**
 * A visit of a browser that knows nothing of the site: its own connections, its own Alt-Svc, no cache. Each navigation is
 * to the same page, over whatever connections the browser kept.
 */
export async function visit(
  browser: Browser,
  url: string,
  {
    pausesMs,
    onNavigation,
  }: { pausesMs: readonly number[]; onNavigation: (work: () => Promise<Navigated>) => Promise<Navigated> },
): Promise<Navigated[]> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    await devtools.send("Network.enable");
    await devtools.send("Network.setCacheDisabled", { cacheDisabled: true });
    const navigations: Navigated[] = [];
    for (const [index, pauseMs] of [0, ...pausesMs].entries()) {
      if (pauseMs > 0) await pause(pauseMs);
      navigations.push(await onNavigation(() => navigate(page, `${url}?${index + 1}`)));
    }
    return navigations;
  } finally {
    await context.close();
  }
}

async function navigate(page: Page, url: string): Promise<Navigated> {
  const startedMs = Date.now();
  try {
    const response = await page.goto(url, { waitUntil: "load", timeout: TIMEOUT_MS });
    const endedMs = Date.now();
    const status = response?.status();
    const altSvc = (await response?.headerValue("alt-svc")) ?? "";
    const timing = status === 200 ? await page.evaluate(readTiming, PAINT_SETTLES_MS) : undefined;
    return {
      startedMs,
      endedMs,
      error: timing === undefined ? `status ${status}` : "",
      altSvc,
      timing,
      isTimeout: false,
    };
  } catch (error) {
    const [why = ""] = (error as Error).message.split("\n");
    return {
      startedMs,
      endedMs: Date.now(),
      error: why,
      altSvc: "",
      timing: undefined,
      isTimeout: error instanceof errors.TimeoutError,
    };
  }
}

/** Runs in the page. */
async function readTiming(settlesMs: number): Promise<Timing> {
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
