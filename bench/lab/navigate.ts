import { PAGE_TIMEOUT_MS } from "../model/browser-pages.ts";
import type { CoreWatch } from "./cores.ts";
import type { Lane } from "./lane.ts";
import { lateBetween } from "./path.ts";

/** A page as playwright and puppeteer both drive it. */
export interface DrivenPage {
  goto(
    url: string,
    options: { waitUntil: "load"; timeout: number },
  ): Promise<{ status(): number; headers(): Record<string, string> } | null>;
  evaluate(read: (settlesMs: number) => Promise<Timing>, settlesMs: number): Promise<Timing>;
}

type Timing = Awaited<ReturnType<typeof readTiming>>;

/** What a browser tells of one navigation. Times since its start, milliseconds; only `outcome` where it failed. */
interface Navigated extends Partial<Omit<Timing, "files">> {
  /** A navigation that takes longer than its limit counts as long as that, as a timeout. */
  readonly outcome: "ok" | "failed" | "timeout";
  readonly error?: string;
  /** The protocol of each file beside the document, in the order in which they were asked for. */
  readonly files?: readonly string[];
  /** What the document's Alt-Svc said. */
  readonly answer?: "offer" | "clear" | "none";
}

/** A navigation, and how busy machine and path were meanwhile. */
export type LoadedPage = Awaited<ReturnType<typeof loadPage>>;

/** Loads a page, and reads cores and path around it. */
export async function loadPage(page: DrivenPage, url: string, { path }: Pick<Lane, "path">, cores: CoreWatch) {
  const before = await path.stats();
  const startedMs = Date.now();
  const seen = await navigate(page, url);
  const lateRatio = lateBetween(before, await path.stats());
  const busyRatio = cores.busyRatio(startedMs, startedMs + (seen.loadMs ?? 0));
  const known = (ratio: number): number | null => (Number.isFinite(ratio) ? ratio : null);
  return { startedMs, ...seen, busyRatio: known(busyRatio), lateRatio: known(lateRatio) };
}

/** A paint is reported a frame or two after it. */
const PAINT_SETTLES_MS = 150;

async function navigate(page: DrivenPage, url: string): Promise<Navigated> {
  try {
    const response = await page.goto(url, { waitUntil: "load", timeout: PAGE_TIMEOUT_MS });
    if (response?.status() !== 200) return { outcome: "failed", error: `status ${response?.status()}` };
    const altSvc = response.headers()["alt-svc"];
    const answer = altSvc?.startsWith("h3=") === true ? "offer" : altSvc === "clear" ? "clear" : "none";
    return { outcome: "ok", answer, ...(await page.evaluate(readTiming, PAINT_SETTLES_MS)) };
  } catch (thrown) {
    const { name, message } = thrown as Error;
    const [error = ""] = message.split("\n");
    return name === "TimeoutError"
      ? { outcome: "timeout", error, loadMs: PAGE_TIMEOUT_MS }
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
  return {
    loadMs: navigation.loadEventEnd,
    /** Null where nothing was painted that counts. */
    lcpMs: paints.at(-1)?.startTime ?? null,
    ttfbMs: navigation.responseStart,
    /** Of the connection that the document came over; 0 where it was open already. */
    connectMs: navigation.connectEnd - navigation.connectStart,
    documentProtocol: navigation.nextHopProtocol,
    files: resources
      .toSorted((one, other) => one.startTime - other.startTime)
      .map(({ nextHopProtocol }) => nextHopProtocol),
  };
}
