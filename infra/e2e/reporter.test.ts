// Only here: a real browser runs the reporter, and its reports reach the objects.
import { once } from "node:events";
import { createServer, request, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { BrowserContext, Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { type PageReport, parsePageReport } from "../../policy-api/visitors/page-report.ts";
import type { Policy } from "../../policy-api/decision/policy.ts";
import type { Results } from "../../policy-api/api/contract/results.ts";
import cubic from "../../policy-api/policies/cubic.json" with { type: "json" };
import { writeCloudflareConfig } from "./as-cloudflare.ts";
import { callApi } from "../workerd/policy-client.ts";
import { launchBrowser, navigate, untilH3 } from "./browser.ts";
import { fixed, probe, startTestSystem, testFolder, type TestSystem, TOKEN, until } from "./harness.ts";
import { rowsOnDisk } from "./objects.ts";

/** Rows are written every ten seconds, and isolates tell the objects as often. */
const SLOW = { timeout: 150_000 };
const reporting = (inject: boolean): Policy => ({ ...fixed("fixed-h3"), reports: { share: 1, inject } });

interface Watched {
  readonly page: Page;
  /** What the page's scripts threw, and what its console says of errors. */
  readonly errors: string[];
}

/** A page in a browser of its own. `prepare` runs in each page before the page's own scripts. */
async function watched(
  { spkiSha256 }: Pick<TestSystem, "spkiSha256">,
  options: Parameters<Awaited<ReturnType<typeof launchBrowser>>["newContext"]>[0] = {},
  prepare?: Parameters<BrowserContext["addInitScript"]>[0],
): Promise<Watched> {
  const browser = await launchBrowser(spkiSha256);
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    // The demonstration has no icon.
    const isIcon = message.location().url.endsWith("/favicon.ico");
    if (message.type() === "error" && !isIcon) errors.push(message.text());
  });
  if (prepare !== undefined) await context.addInitScript(prepare);
  return { page, errors };
}

/** Resolves when the page's reporter is there: it comes after the load event. */
async function reporterIn(page: Page): Promise<void> {
  await page.waitForFunction(() => performance.getEntriesByName(`${location.origin}/_h3/v1/reporter.js`).length > 0);
  // A browser notes the response a moment before it runs the script, and says nothing of that.
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)));
}

function reportOf(beacon: string | undefined): PageReport {
  const parsed = parsePageReport(JSON.parse(beacon ?? ""));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return parsed.value;
}

const pagesOf = (system: TestSystem, count: number): Promise<true> =>
  until(
    `${count} reports in the object`,
    () => (rowsOnDisk(system.stateDir).pages >= count ? true : undefined),
    45_000,
  );

const OWN_TAG = '<script src="/_h3/v1/reporter.js" async></script>';

/** A site of one page with these headers, and a picture that comes late or never. */
async function startSite(headers: Record<string, string>, body = "<p>text"): Promise<string> {
  const server = createServer((asked, reply) => {
    if (asked.url === "/never.png") return;
    reply.writeHead(200, { "content-type": "text/html", ...headers });
    reply.end(`<!doctype html><html><head><title>t</title><link rel="icon" href="data:,"></head><body>${body}`);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

/** What stands between edge and workerd, as a zone's rules stand before a worker. */
interface Rules {
  /** Answers a page, which then passes no worker. */
  readonly page: (reply: ServerResponse) => void;
  /** The headers that a report gets. */
  readonly report: Readonly<Record<string, string>>;
}

/**
 * The system, with a program between edge and workerd that keeps the reports: of a page that is being left, a browser tells
 * a test nothing.
 */
async function startReportingSystem(
  { edgeFlags = [], ...others }: NonNullable<Parameters<typeof startTestSystem>[0]> = {},
  rules?: Rules,
): Promise<TestSystem & { readonly beacons: readonly string[] }> {
  let socketPath = "";
  const beacons: string[] = [];
  const server = createServer((asked, reply) => {
    if (asked.url === "/_h3/v1/report") void text(asked).then((body) => beacons.push(body));
    const { method, url: path = "" } = asked;
    if (rules !== undefined && !path.startsWith("/_h3/")) {
      rules.page(reply);
      return;
    }
    const headers = { ...asked.headers, ...rules?.report };
    const passed = request({ socketPath, method, path, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(reply);
    });
    passed.on("error", () => reply.destroy());
    asked.pipe(passed);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const upstream = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  const flags = ["-server-timing=true", "-upstream", upstream, ...edgeFlags];
  const system = await startTestSystem({ edgeFlags: flags, ...others });
  socketPath = system.workerd.visitorsSocket;
  return { ...system, beacons };
}

it(
  "a page of the demonstration reports once, over HTTP/2 and over HTTP/3, and its reports reach the object",
  SLOW,
  async () => {
    const system = await startReportingSystem();
    await system.putPolicy(reporting(true));
    const { page, errors } = await watched(system);
    expect(await navigate(page, system.port)).toBe("h2");
    // Over the loopback it may take less than the millisecond that is reported.
    const connectMs = await page.evaluate(() => {
      const { connectStart, connectEnd } = performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming;
      return Math.floor(connectEnd - connectStart);
    });
    await until("the first report", () => system.beacons[0]);
    await untilH3(page);
    expect(await navigate(page, system.port, "/two")).toBe("h3");
    // The page is left before its time is up.
    await page.waitForTimeout(500);
    await navigate(page, system.port);
    await until("the second report", () => system.beacons[1]);
    await until("the third report", () => system.beacons[2]);
    expect(system.beacons).toHaveLength(3);
    const [first, second] = system.beacons.map(reportOf);
    expect([first?.protocol, second?.protocol]).toEqual(["h2", "h3"]);
    for (const report of [first, second]) {
      expect(report?.loadMs).toBeGreaterThan(0);
      expect(report?.connections.length).toBeGreaterThan(0);
    }
    // Of the second page most files come from the cache.
    expect(first?.files.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(5);
    expect(first?.lcpMs).toBeGreaterThan(0);
    expect(first?.connectMs).toBe(connectMs);
    // The edge's own count of the same connection goes on from what the page saw.
    const seen = first?.connections.find(({ l4 }) => l4?.transport === "tcp")?.l4;
    expect(seen?.bytesSent).toBeGreaterThan(1_000);
    await until("the edge's own count of it", () => {
      const connections = rowsOnDisk(system.stateDir).clients.flatMap((client) => client.connections);
      const own = connections.find(({ id }) => id === seen?.connectionId);
      return own !== undefined && own.bytesSent >= (seen?.bytesSent ?? 0) ? own : undefined;
    });
    await pagesOf(system, 3);
    // On this edge the samples of the edge itself are what counts: no packet counts twice.
    const ids = rowsOnDisk(system.stateDir).clients.flatMap(({ connections }) => connections.map(({ id }) => id));
    expect(ids.filter((id) => id.startsWith("page:"))).toEqual([]);
    expect(errors).toEqual([]);
  },
);

it(
  "where nobody else counts packets, as on Cloudflare, a page's report brings them into what is known",
  SLOW,
  async () => {
    const config = writeCloudflareConfig(testFolder());
    const system = await startReportingSystem({ config, edgeFlags: ["-config", "as-cloudflare=true"] });
    await system.putPolicy(reporting(true));
    const { page, errors } = await watched(system);
    await navigate(page, system.port);
    const { connections } = reportOf(await until("the report", () => system.beacons[0]));
    const told = connections.find(({ l4 }) => l4?.transport === "tcp")?.l4;
    const held = await until(
      "the page's connection in the object",
      () =>
        rowsOnDisk(system.stateDir)
          .clients.flatMap((client) => client.connections)
          .find(({ id }) => id === `page:${told?.connectionId}`),
      45_000,
    );
    expect(held.packetsSent).toBe(told?.packetsSent);
    expect(held.packetsSent).toBeGreaterThan(5);
    expect(held.bytesSent).toBe(told?.bytesSent);
    expect(errors).toEqual([]);
  },
);

it("what the pages of a drawn client took is in the results, with the page that did not report", SLOW, async () => {
  const system = await startReportingSystem();
  const drawing = { exploration: { share: 1 }, reports: { share: 1, inject: true } };
  await system.putPolicy({ ...(cubic as unknown as Policy), ...drawing });
  const { page } = await watched(system);
  for (const path of ["/", "/two", "/"]) {
    await navigate(page, system.port, path);
    await reporterIn(page);
  }
  await until("three reports", () => system.beacons[2]);
  // Asked to report, and no browser: it never does.
  await probe(system, "h2", [`https://127.0.0.1:${system.port}/`], ["-header", "Accept: text/html"]);
  const results = await until(
    "the results",
    async () => {
      const { json } = await callApi(system.workerd.visitorsSocket, TOKEN, "GET", "results");
      const { offered, withheld } = (json as Results).everyone;
      return offered.pages + withheld.pages >= 3 ? (json as Results) : undefined;
    },
    60_000,
  );
  const { everyone, rttClasses, cells, sentence, objects } = results;
  const [drawn, other] =
    everyone.offered.clients > 0 ? [everyone.offered, everyone.withheld] : [everyone.withheld, everyone.offered];
  // The first page does not count if its look-up was late. Of a client two pages count, and each as its mean page.
  expect(drawn).toMatchObject({ clients: 1, counted: 2 });
  expect(drawn.reported).toBeCloseTo((2 * (drawn.pages - 1)) / drawn.pages, 5);
  expect(other).toMatchObject({ clients: 0, pages: 0 });
  expect(rttClasses.map(({ offered, withheld }) => offered.clients + withheld.clients)).toEqual([1, 0, 0, 0, 0]);
  expect(cells.map(({ position }) => position)).toContain("next");
  expect(objects.answered).toBe(objects.asked);
  expect(sentence).toMatch(/^Nothing can be said yet/);
});

it("the results compare arms that rules draw, of pages that pass no worker", SLOW, async () => {
  const config = writeCloudflareConfig(testFolder(), "h3.test");
  let altSvc = "";
  const system = await startReportingSystem(
    { config, edgeFlags: ["-config", "as-cloudflare=true"] },
    {
      page: (reply) => {
        reply.writeHead(200, {
          "content-type": "text/html",
          "cache-control": "no-store",
          "alt-svc": altSvc,
          "server-timing": 'h3-arm;desc="offer"',
        });
        reply.end(`<!doctype html><title>t</title><link rel="icon" href="data:,">${OWN_TAG}<p>text`);
      },
      report: { "h3-arm": "offer" },
    },
  );
  altSvc = `h3=":${system.port}"; ma=60`;
  await system.putPolicy({
    ...(cubic as unknown as Policy),
    exploration: { share: 0.1 },
    reports: { share: 1, inject: false },
  });
  const { page, errors } = await watched(system);
  expect(await navigate(page, system.port)).toBe("h2");
  await reporterIn(page);
  await untilH3(page);
  for (const path of ["/two", "/three"]) {
    expect(await navigate(page, system.port, path)).toBe("h3");
    await reporterIn(page);
  }
  await until("three reports", () => system.beacons[2]);
  expect(system.beacons.map(reportOf).map(({ token, protocol }) => [token, protocol])).toEqual([
    [undefined, "h2"],
    [undefined, "h3"],
    [undefined, "h3"],
  ]);
  const { everyone } = await until(
    "the results",
    async () => {
      const { json } = await callApi(system.workerd.visitorsSocket, TOKEN, "GET", "results");
      return (json as Results).everyone.offered.pages >= 3 ? (json as Results) : undefined;
    },
    60_000,
  );
  // No page is missing: one that does not report is not known.
  expect(everyone.offered).toMatchObject({ clients: 1, reported: 2 });
  expect(everyone.withheld).toMatchObject({ clients: 0, pages: 0 });
  expect(errors).toEqual([]);
});

it.each([
  [true, "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:"],
  [false, "script-src 'nonce-abc' 'strict-dynamic'; connect-src 'self'"],
  [false, "default-src 'self'; img-src data:; connect-src 'none'"],
])("a strict policy for scripts: reports %s, and has nothing to say: %s", async (reports, policy) => {
  const origin = await startSite({ "content-security-policy": policy });
  const system = await startReportingSystem({ origin });
  await system.putPolicy(reporting(true));
  const { page, errors } = await watched(system);
  await navigate(page, system.port);
  if (reports) await reporterIn(page);
  expect(await page.locator('script[src^="/_h3/"]').count()).toBe(reports ? 1 : 0);
  await navigate(page, system.port);
  // The first page was left: it has reported.
  if (reports) await until("the report", () => system.beacons[0]);
  expect(system.beacons).toHaveLength(reports ? 1 : 0);
  expect(errors).toEqual([]);
});

type Minding = readonly [Parameters<typeof watched>[1], Parameters<BrowserContext["addInitScript"]>[0]?];
const MINDING: Readonly<Record<string, Minding>> = {
  "Global Privacy Control, as a header": [{ extraHTTPHeaders: { "sec-gpc": "1" } }],
  "Global Privacy Control, as scripts see it": [
    {},
    () => void Object.defineProperty(navigator, "globalPrivacyControl", { value: true }),
  ],
  "Save-Data, as a header": [{ extraHTTPHeaders: { "save-data": "on" } }],
  "Save-Data, as scripts see it": [
    {},
    () => void Object.defineProperty(navigator, "connection", { value: { saveData: true } }),
  ],
  "a page without performance": [{}, () => void Object.defineProperty(window, "performance", { value: undefined })],
  "beacons blocked": [{}, () => void Object.defineProperty(navigator, "sendBeacon", { value: () => false })],
};

it("says nothing and throws nothing where visitors mind or cannot, with the owner's own tag", SLOW, async () => {
  const origin = await startSite({}, OWN_TAG);
  const system = await startReportingSystem({ origin });
  await system.putPolicy(reporting(false));
  const url = `https://h3.test:${system.port}/`;
  const visitTwice = async ({ page }: Watched): Promise<void> => {
    for (let visit = 0; visit < 2; visit++) await page.goto(url, { waitUntil: "load" });
  };
  for (const [name, [options, prepare]] of Object.entries(MINDING)) {
    const visitor = await watched(system, options, prepare);
    await visitTwice(visitor);
    expect([name, system.beacons, visitor.errors]).toEqual([name, [], []]);
    await visitor.page.context().browser()?.close();
  }
  // And a page of the same kind whose visitor minds nothing does report.
  await visitTwice(await watched(system));
  await until("the report", () => system.beacons[0]);
});

it("a page that is left before it has loaded says so", SLOW, async () => {
  const origin = await startSite({}, `${OWN_TAG}<img src="/never.png" alt="">`);
  const system = await startReportingSystem({ origin });
  await system.putPolicy(reporting(false));
  const { page } = await watched(system);
  const script = page.waitForResponse((response) => response.url().endsWith("reporter.js"));
  await page.goto(`https://h3.test:${system.port}/`, { waitUntil: "commit" });
  await script;
  await page.waitForTimeout(300);
  await page.goto("about:blank");
  const report = reportOf(await until("the report", () => system.beacons[0]));
  expect(report.loadMs).toBeUndefined();
  expect(report.atMs).toBeGreaterThanOrEqual(300);
  await pagesOf(system, 1);
});
