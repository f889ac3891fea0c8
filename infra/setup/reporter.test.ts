import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { parsePageReport } from "../../policy-api/visitors/page-report.ts";
import { minifiedReporter, REPORTER_MODULE, reporterModule } from "./reporter.ts";

const TOKEN = "t".repeat(64);
const L4 = "?proto=TCP&rtt=20000&sent=60&lost=1&sent_bytes=80000&cid=";

let script: string;
beforeAll(async () => {
  script = await minifiedReporter();
});

describe("the reporter's file", () => {
  it("is what the worker serves: else run `npm run build:reporter`", () => {
    expect(readFileSync(REPORTER_MODULE, "utf8")).toBe(reporterModule(script));
  });

  it("has at most 1.5 KB with gzip", () => {
    expect(gzipSync(script, { level: 9 }).length).toBeLessThanOrEqual(1_500);
  });
});

interface Entry {
  name: string;
  transferSize: number;
  encodedBodySize: number;
  responseStart: number;
  responseEnd: number;
  nextHopProtocol: string;
  serverTiming: { name: string; description: string }[];
}

function entry(path: string, responseStart: number, over: Partial<Entry> = {}): Entry {
  const sizes = { transferSize: 1_300, encodedBodySize: 1_000 };
  const times = { responseStart, responseEnd: responseStart + 20 };
  return { name: `https://site.test${path}`, ...sizes, ...times, nextHopProtocol: "h2", serverTiming: [], ...over };
}

/** A browser's page as far as the reporter sees it. */
class Page {
  readonly beacons: [url: string, body: string][] = [];
  readonly timers: { run: () => void; ms: number }[] = [];
  readonly navigation = {
    ...entry("/", 90.2),
    connectStart: 10,
    connectEnd: 70.4,
    loadEventStart: 300.5,
    serverTiming: [{ name: "h3", description: TOKEN }],
  };
  resources: Entry[] = [];
  painted: { startTime: number }[] = [{ startTime: 150 }, { startTime: 222.2 }];
  nowMs = 5_300.7;
  readonly #listeners = new Map<string, (() => void)[]>();
  readonly scope: Record<string, unknown>;

  constructor() {
    const painted = (): unknown => this.painted;
    class PerformanceObserver {
      readonly observe = (): void => undefined;
      readonly disconnect = (): void => undefined;
      readonly takeRecords = painted;
    }
    this.scope = {
      navigator: { sendBeacon: (url: string, body: string) => this.beacons.push([url, body]) > 0 },
      document: { visibilityState: "visible", readyState: "loading" },
      performance: {
        now: () => this.nowMs,
        getEntriesByType: (type: string) => (type === "navigation" ? [this.navigation] : this.resources),
      },
      location: { origin: "https://site.test" },
      PerformanceObserver,
      URL,
      addEventListener: (name: string, run: () => void) =>
        void this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), run]),
      setTimeout: (run: () => void, ms: number) => void this.timers.push({ run, ms }),
    };
  }

  run(): this {
    runInNewContext(script, this.scope);
    return this;
  }

  happens(name: string): this {
    for (const run of this.#listeners.get(name) ?? []) run();
    return this;
  }

  /** The load event, and what waits for later. */
  loads(): this {
    this.happens("load");
    for (const { run } of this.timers) run();
    return this;
  }

  hides(): this {
    Object.assign(this.scope["document"] ?? {}, { visibilityState: "hidden" });
    return this.happens("visibilitychange");
  }
}

describe("the reporter", () => {
  it("reports what the page and its files took, seconds after the load event", () => {
    const page = new Page();
    page.resources = [
      entry("/a.css", 120, { serverTiming: [{ name: "cfL4", description: `${L4}aa` }] }),
      entry("/b.js", 200, { nextHopProtocol: "h3", serverTiming: [{ name: "cfL4", description: `${L4}bb` }] }),
      // Of a connection the last reading counts.
      entry("/c.js", 250, { serverTiming: [{ name: "cfL4", description: `${L4.replace("60", "70")}aa` }] }),
      // After the load event: none of its files, but its counters are the latest.
      entry("/late.json", 2_000, {
        nextHopProtocol: "h3",
        serverTiming: [{ name: "cfL4", description: `${L4.replace("60", "90")}bb` }],
      }),
      entry("/cached.png", 130, { transferSize: 0, serverTiming: [{ name: "cfL4", description: `${L4}cc` }] }),
      entry("/unchanged.png", 130, { transferSize: 300, encodedBodySize: 4_000 }),
      { ...entry("/", 140), name: "https://elsewhere.test/x.js" },
    ];
    page.run().happens("load");
    expect(page.beacons).toEqual([]);
    expect(page.timers.map(({ ms }) => ms)).toEqual([5_000]);
    page.timers[0]?.run();
    const [[url, body] = ["", ""]] = page.beacons;
    expect(url).toBe("/_h3/v1/report");
    expect(body.length).toBeLessThan(4_096);
    const report: unknown = JSON.parse(body);
    expect(report).toEqual({
      token: TOKEN,
      protocol: "h2",
      connectMs: 60,
      ttfbMs: 91,
      loadMs: 301,
      lcpMs: 223,
      atMs: 5_301,
      files: [
        { protocol: "h2", count: 3, bytes: 3_900 },
        { protocol: "h3", count: 1, bytes: 1_300 },
      ],
      connections: [
        { l4: `${L4.replace("60", "70")}aa`, agoMs: 5_050 },
        { l4: `${L4.replace("60", "90")}bb`, agoMs: 3_300 },
      ],
    });
    expect(parsePageReport(report).ok).toBe(true);
  });

  it.each([
    ["is hidden", (page: Page) => page.hides()],
    ["is left", (page: Page) => page.happens("pagehide")],
    ["is hidden and left", (page: Page) => page.hides().happens("pagehide")],
    ["is left after the report", (page: Page) => page.loads().hides().happens("pagehide")],
    [
      "goes to the back-forward cache, comes back, and goes again",
      (page: Page) => page.happens("load").happens("pagehide").happens("pageshow").loads().happens("pagehide"),
    ],
  ])("reports once if the page %s", (_name, happens) => {
    const page = new Page().run();
    happens(page);
    expect(page.beacons).toHaveLength(1);
  });

  it("says of a page that is left at once that it never loaded", () => {
    const page = new Page();
    page.navigation.loadEventStart = 0;
    page.painted = [];
    page.nowMs = 200;
    page.run().happens("pagehide");
    const report = JSON.parse(page.beacons[0]?.[1] ?? "{}") as Record<string, unknown>;
    expect(report).toMatchObject({ atMs: 200, ttfbMs: 91 });
    expect(report).not.toHaveProperty("loadMs");
    expect(report).not.toHaveProperty("lcpMs");
    expect(parsePageReport(report).ok).toBe(true);
  });

  it("reports without LCP where paints are not told", () => {
    const page = new Page();
    page.scope["PerformanceObserver"] = class {
      readonly disconnect = (): void => undefined;
      readonly takeRecords = (): unknown => [];
      observe(): void {
        throw new TypeError("unknown type");
      }
    };
    page.run().loads();
    expect(page.beacons).toHaveLength(1);
    expect(page.beacons[0]?.[1]).not.toContain("lcpMs");
  });

  it("counts from now where it comes after the load event", () => {
    const page = new Page();
    (page.scope["document"] as { readyState: string }).readyState = "complete";
    for (const { run } of page.run().timers) run();
    expect(page.beacons).toHaveLength(1);
  });

  it("does nothing at the load event but to wait", () => {
    const page = new Page().run();
    page.scope["performance"] = undefined;
    page.happens("load");
    expect(page.timers).toHaveLength(1);
  });

  it.each<[string, (page: Page) => void]>([
    [
      "Global Privacy Control",
      ({ scope }) => Object.assign(scope["navigator"] as object, { globalPrivacyControl: true }),
    ],
    ["Save-Data", ({ scope }) => Object.assign(scope["navigator"] as object, { connection: { saveData: true } })],
    [
      "a page that is rendered ahead of time",
      ({ scope }) => Object.assign(scope["document"] as object, { prerendering: true }),
    ],
    [
      "a page in the background",
      ({ scope }) => Object.assign(scope["document"] as object, { visibilityState: "hidden" }),
    ],
    ["a page that is not asked", ({ navigation }) => Object.assign(navigation, { serverTiming: [] })],
    ["a page from the cache", ({ navigation }) => Object.assign(navigation, { transferSize: 0 })],
    [
      "a page after a 304",
      ({ navigation }) => Object.assign(navigation, { transferSize: 300, encodedBodySize: 5_000 }),
    ],
  ])("says nothing: %s", (_name, change) => {
    const page = new Page();
    change(page);
    page.run().loads().hides().happens("pagehide");
    expect(page.beacons).toEqual([]);
  });

  it.each<[string, (page: Page) => void]>([
    ...["performance", "navigator", "document", "location", "PerformanceObserver", "URL", "addEventListener"].map(
      (name): [string, (page: Page) => void] => [`without ${name}`, ({ scope }) => delete scope[name]],
    ),
    [
      "a navigation that is not told",
      (page) => Object.assign(page.scope["performance"] as object, { getEntriesByType: () => [] }),
    ],
    ["no Server-Timing at all", ({ navigation }) => Object.assign(navigation, { serverTiming: undefined })],
    ["beacons blocked", ({ scope }) => Object.assign(scope["navigator"] as object, { sendBeacon: () => false })],
    [
      "beacons that throw",
      ({ scope }) =>
        Object.assign(scope["navigator"] as object, {
          sendBeacon: () => {
            throw new Error("blocked");
          },
        }),
    ],
    ["a file with a name that is no URL", (page) => void page.resources.push({ ...entry("/", 1), name: "::" })],
  ])("throws nothing into the page: %s", (_name, change) => {
    const page = new Page();
    change(page);
    expect(() => page.run().loads().hides().happens("pagehide")).not.toThrow();
    expect(page.beacons).toEqual([]);
  });

  it("adds no name to the page, so that none of the page's own can be in its way", () => {
    const page = new Page();
    const before = Object.keys(page.scope);
    page.run().loads();
    expect(Object.keys(page.scope)).toEqual(before);
    // A second tag on the page does no harm either.
    expect(() => page.run()).not.toThrow();
    runInNewContext(`const attempt = 1, report = 2; ${script}`, page.scope);
  });
});
