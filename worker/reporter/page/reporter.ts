// The reporter: it runs in visitors' pages. Build it with `npm run build:reporter`, which minifies it into ../script.ts.
// It stores nothing, throws nothing into the page, and reports once. Keep it small: at most 1.5 KB with gzip.

/** What the worker reads: policy-api/visitors/page-report.ts. */
interface Files {
  protocol: string;
  count: number;
  bytes: number;
}
interface Reading {
  l4: string;
  agoMs: number;
}
interface Preferences {
  globalPrivacyControl?: boolean;
  connection?: { saveData?: boolean };
}

/** After the load event: by then most pages have painted their largest part, milliseconds. */
const WAIT_MS = 5_000;

const attempt = (task: () => void) => (): void => {
  try {
    task();
  } catch {
    // A browser without what this needs has nothing to report.
  }
};

attempt(() => {
  const { globalPrivacyControl, connection } = navigator as Preferences;
  // A page that is loaded where nobody looks at it, in the background or ahead of time, tells nothing of how long one waits.
  const isSeen = document.visibilityState === "visible" && !(document as { prerendering?: boolean }).prerendering;
  if (globalPrivacyControl || connection?.saveData || !isSeen) return;

  let isDone = false;
  let lcpMs = 0;
  // Not the package web-vitals: for LCP alone it has more bytes than all of this. Browsers end the entries at the first
  // input by themselves; pages that come back from the cache, which it handles too, are not reported again here.
  const painted = (entries: PerformanceEntryList): void => {
    for (const { startTime } of entries) lcpMs = startTime;
  };
  const observer = new PerformanceObserver((list) => painted(list.getEntries()));
  attempt(() => observer.observe({ type: "largest-contentful-paint", buffered: true }))();

  const report = attempt(() => {
    if (isDone) return;
    isDone = true;
    painted(observer.takeRecords());
    observer.disconnect();
    const nowMs = performance.now();
    const page = performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming;
    const said = (entry: string): string | undefined =>
      page.serverTiming.find(({ name }) => name === entry)?.description;
    const token = said("h3");
    // From a cache, or after a 304, the entry speaks of an earlier load.
    const isFromNetwork = ({ transferSize, encodedBodySize }: PerformanceResourceTiming): boolean =>
      transferSize > encodedBodySize;
    // An arm by a rule: the worker learns it from another rule, as a page could name any.
    if (!(token ?? said("h3-arm")) || !isFromNetwork(page)) return;
    const loadMs = page.loadEventStart;
    const files: Record<string, Files> = {};
    const readings: Record<string, Reading> = {};
    const entries = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
    for (const entry of [page, ...entries].sort((a, b) => a.responseStart - b.responseStart)) {
      if (!isFromNetwork(entry) || new URL(entry.name).origin !== location.origin) continue;
      const protocol = entry.nextHopProtocol || "unknown";
      if (!loadMs || entry.responseEnd <= loadMs) {
        const file = (files[protocol] ??= { protocol, count: 0, bytes: 0 });
        file.count++;
        file.bytes += entry.transferSize;
      }
      // Its server wrote this at the head of a response. Of each connection the last one counts.
      for (const { name, description } of entry.serverTiming)
        if (name === "cfL4") {
          const id = /cid=[^&]*/.exec(description)?.[0] ?? "";
          readings[id] = { l4: description, agoMs: Math.floor(nowMs - entry.responseStart) };
        }
    }
    navigator.sendBeacon(
      "/_h3/v1/report",
      JSON.stringify({
        token,
        protocol: page.nextHopProtocol,
        connectMs: Math.floor(page.connectEnd - page.connectStart),
        ttfbMs: Math.ceil(page.responseStart),
        // Left out if they are not known: JSON has no undefined.
        loadMs: Math.ceil(loadMs) || undefined,
        lcpMs: Math.ceil(lcpMs) || undefined,
        atMs: Math.ceil(nowMs),
        files: Object.values(files),
        connections: Object.values(readings).slice(-4),
      }),
    );
  });

  addEventListener("pagehide", report);
  // Phones may end a hidden page without a further event.
  addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") report();
  });
  const wait = (): void => void setTimeout(report, WAIT_MS);
  if (document.readyState === "complete") wait();
  else addEventListener("load", wait);
})();
