// Only here: the page in a real browser: its script, its looks, and what it asks for.
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { connect } from "../../policy-api/cli/api.ts";
import { type Dashboard, startDashboard } from "../../policy-api/cli/dashboard-server.ts";
import { keepAnswer } from "../../policy-api/cli/last-answers.ts";
import type { Policy } from "../../policy-api/decision/policy.ts";
import cubic from "../../policy-api/policies/cubic.json" with { type: "json" };
import { chromiumProgram } from "../setup/chromium.ts";
import { callApi } from "../workerd/policy-client.ts";
import { startTestSystem, type TestSystem, TOKEN } from "./harness.ts";
import { cfOfH2, visitor } from "./visitor.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** Of no named stack: whatever congestion control this machine has, all is well. */
const { provenance: _, ...GAINS } = cubic;
const POLICY = { ...(GAINS as unknown as Policy), exploration: { share: 0.2 } } as Policy;
/** What somebody may write into a note, or name a policy. */
const HOSTILE = '<img src=x onerror="document.title=1"> \u202Etxt.exe "><script>document.title=2</script>';
const WIDTHS = [1280, 380];

let system: TestSystem;
let dashboard: Dashboard;

async function dashboardOf({ port, stateDir }: TestSystem): Promise<Dashboard> {
  const caFile = join(stateDir, "dev-cert.pem");
  const endpoint = {
    origin: `https://localhost:${port}`,
    token: TOKEN,
    ca: readFileSync(caFile, "utf8"),
    caFile,
    timeoutMs: 10_000,
  };
  return startDashboard(connect(endpoint), { port: 0, nowMs: () => Date.now(), stateFolder: stateDir });
}

beforeEach(async () => {
  system = await startTestSystem();
  await system.putPolicy({ ...POLICY, source: HOSTILE });
  const ask = visitor(system);
  for (const [i, rttMs] of [3, 3, 25, 60, 60, 60, 140, 300].entries())
    await ask("/", cfOfH2(rttMs, { packetsSent: 900, packetsLost: i === 4 ? 20 : 0 }), `10.1.${i}.1`);
  dashboard = await dashboardOf(system);
});
afterEach(async () => {
  await dashboard.stop();
});

/** A browser that may load from this machine alone, and says what it asked for and what went wrong. */
async function open(width: number, colorScheme: "light" | "dark") {
  const executablePath = chromiumProgram();
  if (executablePath === undefined) throw new Error("no browser: see infra/setup/chromium.ts");
  const browser: Browser = await chromium.launch({ executablePath });
  onTestFinished(() => browser.close());
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const page: Page = await context.newPage();
  const errors: string[] = [];
  const asked: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  page.on("request", (one) => asked.push(one.url()));
  await page.goto(dashboard.url);
  await page.getByText("No fault is known.").waitFor();
  return { browser, page, errors, asked };
}

/** Of the rules for people who see, hear or type otherwise. */
async function violationsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: unknown[] }[] }> };
    };
    const found = await axe.run();
    return found.violations.map(({ id, nodes }) => `${id}: ${JSON.stringify(nodes).slice(0, 300)}`);
  });
}

it("shows what there is, without a fault, in every size and scheme", { timeout: 120_000 }, async () => {
  for (const width of WIDTHS)
    for (const scheme of ["light", "dark"] as const) {
      const { browser, page, errors } = await open(width, scheme);
      expect(await page.locator("#force").textContent()).toContain("everyone: version 1");
      // Eight pages; each view has its own figures.
      const rows = await page.locator("#time-table tbody tr").allTextContents();
      expect(rows.join(" ")).toMatch(/h3\d/);
      expect(await page.locator("#time canvas").count()).toBe(1);
      const cells = await page.locator("#seen tbody td").allTextContents();
      expect(cells.some((cell) => cell.startsWith("25 %"))).toBe(true);
      expect(await page.locator("#seen td.offered").count()).toBeGreaterThan(3);
      expect(await page.locator("#seen caption").textContent()).toContain("Version 1, everyone's, offers HTTP/3");
      // An empty cell is empty: an outline says the rest.
      expect(cells.filter((cell) => /[-*]/.test(cell))).toEqual([]);
      // One clock, and a picture in the tab.
      expect(await page.locator("header").textContent()).toMatch(
        /All times are UTC.*, 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/s,
      );
      expect(await page.locator("link[rel=icon]").getAttribute("href")).toContain("svg");
      expect(await page.locator("#effect").textContent()).toMatch(/To draw some, give the policy exploration/);
      expect(await page.locator("#doctor").textContent()).toBe(
        "None is kept on this machine. This command makes one: npm run policy -- doctor",
      );
      expect([width, scheme, await violationsOf(page)]).toEqual([width, scheme, []]);
      // Nothing is wider than the page, or cut.
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      const cut = await page.evaluate(() =>
        [...document.querySelectorAll("main section, main div, main pre, main table")]
          .filter((one) => one.scrollWidth > one.clientWidth + 4)
          .map((one) => one.outerHTML.slice(0, 80)),
      );
      expect([width, cut]).toEqual([width, []]);
      expect(errors).toEqual([]);
      await browser.close();
    }
});

it("asks nobody but its own program, and has no token anywhere", async () => {
  const { page, asked } = await open(1280, "light");
  await page.locator("#by").selectOption("reason");
  await page.locator("#hours").selectOption("168");
  expect(await page.locator("#time-table tbody th").first().textContent()).not.toBe("");
  const hosts = new Set(asked.filter((url) => !url.startsWith("data:")).map((url) => new URL(url).origin));
  expect([...hosts]).toEqual([new URL(dashboard.url).origin]);
  const inPage = await page.evaluate(async () => {
    const data = await (await fetch("/data")).text();
    const stored = JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie]);
    return document.documentElement.outerHTML + data + stored;
  });
  expect(inPage + asked.join(" ")).not.toContain(TOKEN);
});

it("says which counts are missing, and shows no answer that comes after a later one", async () => {
  const { page } = await open(1280, "light");
  const data = (await (await fetch(`${dashboard.url}data?hours=24`)).json()) as { stats: { value: object } };
  const silent = { ...data, stats: { value: { ...data.stats.value, objects: { asked: 10, answered: 8 } } } };
  const slow = Promise.withResolvers<void>();
  await page.route("**/data?hours=168", async (route) => {
    await slow.promise;
    await route.fulfill({ json: data });
  });
  await page.route("**/data?hours=744", (route) => route.fulfill({ json: silent }));
  await page.locator("#hours").selectOption("168");
  await page.locator("#hours").selectOption("744");
  await page.getByText("Counts lack 2 of 10 regions").waitFor();
  const late = page.waitForResponse("**/data?hours=168");
  slow.resolve();
  await (await late).finished();
  // The page has had the answer, and would have shown it.
  await page.waitForTimeout(100);
  expect(await page.locator("#state").textContent()).toContain("Counts lack 2 of 10 regions");
});

it("says where problems stand that the edge serves with another stack than the policy's", async () => {
  const { page } = await open(1280, "light");
  const provenance = { ...cubic.provenance, congestionControl: "another" };
  await system.putPolicy({ ...POLICY, provenance });
  await page.locator("#hours").selectOption("168");
  const warning =
    /^version 2 is in force and was made for TCP with another beside quic-go, and TCP with \w+ beside quic-go serves\.$/;
  await page.getByText(warning).waitFor();
  expect(await page.locator("#state").getAttribute("class")).toBe("bad");
});

it("shows the last answers of commands, and says which file it cannot read", async () => {
  const command = "npm run policy -- cost --page-views 1M";
  const [table, prose] = [`${HOSTILE}\n${"wide  column ".repeat(20)}`, "Some words. ".repeat(20)];
  keepAnswer(system.stateDir, "cost", { command, atMs: Date.UTC(2026, 10, 27), text: `${table}\n\n${prose}` });
  const broken = join(system.stateDir, "last-doctor.json");
  writeFileSync(broken, '{"command":');
  const { page, errors } = await open(380, "light");
  expect(await page.locator("#cost").textContent()).toBe(`2026-11-27T00:00:00Z, ${command}${table}${prose}`);
  expect(await page.locator("#doctor").textContent()).toBe(
    `${broken} cannot be read: \`npm run policy -- doctor\` writes it again.`,
  );
  // A table is not wrapped: it scrolls by itself, by keys too. Sentences are.
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  const scrolls = await page
    .locator("#cost pre")
    .evaluateAll((parts) => parts.map((pre) => pre.scrollWidth > pre.clientWidth));
  expect(scrolls).toEqual([true, false]);
  expect(await violationsOf(page)).toEqual([]);
  expect(await page.title()).toBe("adaptive-h3");
  expect(errors).toEqual([]);
});

it("shows names that somebody chose as text", async () => {
  await system.putPolicy({ ...POLICY, source: `again ${HOSTILE}` });
  const socket = system.workerd.visitorsSocket;
  const stage = { version: 1, share: 0.5, pathPrefix: `/<img src=x>${HOSTILE.slice(-40)}` };
  const put = { everyone: 2, stages: [stage], note: HOSTILE };
  const { status } = await callApi(socket, TOKEN, "PUT", "activation", put, { "if-match": "*" });
  expect(status).toBe(200);
  const { page, errors } = await open(1280, "light");
  expect(await page.locator("#force").textContent()).toContain(HOSTILE.replace("\u202E", "?"));
  expect(await page.locator("#force").textContent()).toContain(stage.pathPrefix);
  expect(await page.title()).toBe("adaptive-h3");
  expect(await page.locator("img[src='x']").count()).toBe(0);
  expect(errors).toEqual([]);
});

/** Asks the dashboard's program as anything but its page. */
async function requestOf(
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(dashboard.url);
    request({ host: "127.0.0.1", port, path, headers }, (answer) => {
      text(answer).then((body) => resolve({ status: answer.statusCode, body }), reject);
    })
      .on("error", reject)
      .end();
  });
}

it("refuses pages of other sites, whatever name they come under", async () => {
  const { host } = new URL(dashboard.url);
  expect((await requestOf("/data", { host: "evil.example" })).status).toBe(421);
  expect((await requestOf("/data", { host: `evil.example:${host.split(":")[1]}` })).status).toBe(421);
  expect((await requestOf("/data", { host, "sec-fetch-site": "cross-site" })).status).toBe(403);
  expect((await requestOf("/data", { host })).status).toBe(200);
  for (const path of ["/../package.json", "/main.ts", "/api"])
    expect((await requestOf(path, { host })).status).toBe(404);
  for (const hours of ["0", "745", "x", "1.5"])
    expect((await requestOf(`/data?hours=${hours}`, { host })).status, hours).toBe(400);
});
