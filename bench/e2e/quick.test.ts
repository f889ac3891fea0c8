import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { loadsOf } from "../model/load-experiment.ts";
import { loadExperiment } from "../harness/run.ts";
import type { LoadsExperiment } from "../harness/loads/define.ts";
import { exampleOptions } from "../harness/loads/testing.ts";
import type { LoadExperiment } from "../model/load-experiment.ts";
import { CUBIC_FOLDER } from "../lab/cubic.ts";
import { bench, inRun, killedAt, leftBy, report, rows, succeeded, untilRows, useRuns } from "./runs.ts";

// The quick version of every experiment: all that it measures, every output, nothing left behind.

useRuns();

/** The quick version of an experiment made of loads, as data. */
async function planOf(name: string, ...options: readonly string[]): Promise<LoadExperiment> {
  const found = (await loadExperiment(name)) as LoadsExperiment<object>;
  return found.definition.plan(exampleOptions(...options));
}

/** Every cell, arm and flow of a plan. */
function askedLoads(experiment: LoadExperiment): Set<string> {
  const { cells } = experiment;
  return new Set(
    cells.flatMap((cell) => loadsOf(experiment, cell).map(({ arm, flow }) => `${cell.id}/${arm}/${flow}`)),
  );
}

/** Every cell, arm and flow that has a row. */
function madeLoads(): Set<string> {
  return new Set(rows().map(({ cell, arm, flow }) => `${cell}/${arm}/${flow}`));
}

function summary(): unknown {
  return JSON.parse(readFileSync(inRun("summary.json"), "utf8"));
}

it("smoke: all arms and flows", async () => {
  await succeeded(bench("smoke", "--quick", "--bytes", "20000"));
  expect(rows().length).toBeGreaterThanOrEqual(2 * 11 * 5);
  const { text, pictures } = report();
  expect(pictures).toHaveLength(2);
  expect(summary()).toMatchObject({ experiment: "smoke" });
  for (const arm of ["fixed-h2", "fixed-h3", "always-offer", "adaptive", "bare"]) expect(text).toContain(arm);
}, 180_000);

// One load of each: what a report makes of several, smoke has shown.
it.each(["ohashi-grid", "ohashi-evaluation"])("%s: every cell, arm and flow", async (name) => {
  await succeeded(bench(name, "--quick", "--runs", "1", "--lanes", "4"));
  expect(madeLoads()).toEqual(askedLoads(await planOf(name, "--quick")));
  expect(rows().filter(({ outcome }) => outcome === "failed")).toEqual([]);
  expect(report().pictures.length).toBeGreaterThan(1);
  expect(summary()).toMatchObject({ experiment: name });
});

it("real-networks: every arm's pages, and HTTP/3 is left where UDP alone is slow", async () => {
  await succeeded(bench("real-networks", "--quick", "--visits", "1"));
  expect(rows().filter(({ outcome }) => outcome !== "ok")).toEqual([]);
  const sharesOverH3 = (network: string, arm: string): number[] =>
    rows()
      .filter((row) => row.network === network && row.arm === arm)
      .map(({ filesH3 }) => Number(filesH3));
  expect(sharesOverH3("far away", "fixed-h2")).toEqual([0, 0, 0, 0]);
  expect(sharesOverH3("far away", "adaptive")).toEqual([0, 1, 1, 1]);
  // Its first page may move some files.
  expect(sharesOverH3("UDP held to 5 Mbit/s", "always-offer").slice(1)).toEqual([1, 1, 1]);
  // The edge has tried the waiting QUIC connection before the second page.
  expect(sharesOverH3("UDP held to 5 Mbit/s", "adaptive")).toEqual([0, 0, 0, 0]);
  expect(report().pictures).toEqual(["real-networks.svg"]);
}, 180_000);

it("browsers: both follow an offer, on fast devices and on slow ones", async () => {
  await succeeded(bench("browsers", "--quick"));
  expect(rows().filter(({ outcome }) => outcome !== "ok")).toEqual([]);
  expect(rows()).toHaveLength((2 * 3 + 1) * 3 * 4);
  for (const browser of ["chromium", "firefox"]) {
    const sharesOverH3 = (arm: string, device: string): number[] =>
      rows()
        .filter((row) => row.browser === browser && row.arm === arm && row.device === device)
        .map(({ filesH3 }) => Number(filesH3));
    for (const device of ["fast", "half a core", "quarter of a core"]) {
      expect(sharesOverH3("fixed-h2", device)).toEqual([0, 0, 0, 0]);
      expect(sharesOverH3("always-offer", device).slice(1)).toEqual([1, 1, 1]);
    }
  }
  expect(report().pictures).toEqual(["browsers.svg"]);
}, 300_000);

it("browser-clients: each arm's visit, and a return over HTTP/3 where there was an offer", async () => {
  await succeeded(bench("browser-clients", "--quick"));
  expect(rows().filter(({ outcome }) => outcome !== "ok")).toEqual([]);
  const sharesOverH3 = (arm: string): number[] =>
    rows()
      .filter((row) => row.arm === arm)
      .map(({ filesH3 }) => Number(filesH3));
  expect(sharesOverH3("fixed-h2")).toEqual([0, 0, 0, 0]);
  expect(sharesOverH3("always-offer").slice(1)).toEqual([1, 1, 1]);
  expect(sharesOverH3("adaptive")).toHaveLength(4);
  expect(report().pictures).toEqual(["browser-clients.svg"]);
}, 180_000);

/** The protocols of documents and files, page by page, of a quick run of `offers`. */
function pagesOver(treatment: string): string[] {
  return Array.from({ length: 5 }, (_, i) => rows().find(({ id }) => id === `2 ms/cubic/${treatment}/0/${i + 1}`)).map(
    (row) => `${row?.["documentProtocol"]} ${[...new Set(row?.["files"])].sort().join("")}`,
  );
}

it("offers: a browser's pages come over what they were told, and a return too", async () => {
  await succeeded(bench("offers", "--quick"));
  expect(pagesOver("never")).toEqual(Array<string>(5).fill("h2 2"));
  // On a short path the browser changes in the middle of the page that brings the offer.
  expect(pagesOver("first")).toEqual([expect.stringMatching(/^h2 2/), ...Array<string>(4).fill("h3 3")]);
  expect(pagesOver("second").slice(0, 1)).toEqual(["h2 2"]);
  expect(pagesOver("second").slice(2)).toEqual(Array<string>(3).fill("h3 3"));
  expect(pagesOver("cleared").slice(3)).toEqual(["h2 2", "h2 2"]);
  expect(report().text).toMatch(/\| 2 ms +\| cubic \| +cleared \|/);
}, 180_000);

it("offers --returns: a return's next pages come over HTTP/3 until its first takes the offer back", async () => {
  await succeeded(bench("offers", "--quick", "--returns"));
  expect(pagesOver("never")).toEqual(Array<string>(5).fill("h2 2"));
  for (const treatment of ["first", "silent"])
    expect(pagesOver(treatment).slice(1)).toEqual(Array<string>(4).fill("h3 3"));
  expect(pagesOver("cleared").slice(1, 3)).toEqual(["h3 3", expect.stringMatching(/^h3 /)]);
  expect(pagesOver("cleared").slice(3)).toEqual(["h2 2", "h2 2"]);
  expect(report().text).toContain("a return of three pages");
}, 180_000);

it("memory: crowds over both protocols, interrupted and gone on with", async () => {
  const stopped = bench("memory", "--quick");
  await untilRows(1, stopped);
  stopped.child.kill("SIGINT");
  expect(await stopped.ended).toMatchObject({ code: 130 });
  await succeeded(bench("memory", "--quick"));
  expect(rows()).toHaveLength(2 * 2 * 2);
  for (const row of rows()) {
    expect(Number(row.edgePeakBytes)).toBeGreaterThan(10_000_000);
    expect(Number(row.clientPeakBytes)).toBeGreaterThan(10_000_000);
  }
  expect(report().pictures).toEqual(["memory.svg"]);
  expect(await leftBy(stopped)).toEqual([]);
}, 180_000);

it.each(["latency-sweep", "bandwidth-limits"])(
  "%s: every place of every series",
  async (name) => {
    // One congestion control: ohashi-grid has shown both.
    const options = ["--quick", "--congestion", "cubic"];
    await succeeded(bench(name, ...options, "--lanes", "8"));
    const plan = await planOf(name, ...options);
    expect(madeLoads()).toEqual(askedLoads(plan));
    // A session that was to be resumed, or asked for in 0-RTT, and was not has failed.
    expect(rows().filter(({ outcome }) => outcome === "failed")).toEqual([]);
    const { text, pictures } = report();
    for (const { id, title, points } of plan.series ?? []) {
      const section = text.split("\n## ").find((one) => one.startsWith(`${title}\n`)) ?? "";
      expect(section).toContain(`](ratio-${id}.svg)`);
      expect(pictures).toContain(`ratio-${id}.svg`);
      const labels = section.split("\n").map((line) => /^\| (.+?) +\|/.exec(line)?.[1]);
      for (const { label } of points) expect(labels).toContain(label);
    }
    expect(summary()).toMatchObject({ experiment: name });
  },
  180_000,
);

/** The kernel's own parameters of CUBIC. */
function cubicOf(): string {
  return ["beta", "tcp_friendliness"].map((name) => readFileSync(join(CUBIC_FOLDER, name), "utf8").trim()).join(" ");
}

it("tcp-congestion: every way, its windows, and the kernel's CUBIC as it was, also after kill -9", async () => {
  const before = cubicOf();
  const options = ["tcp-congestion", "--quick", "--lanes", "3"];
  const killed = bench(...options);
  await vi.waitUntil(() => cubicOf() !== before, { timeout: 120_000, interval: 20 });
  killed.child.kill("SIGKILL");
  await killed.ended;
  await vi.waitUntil(() => cubicOf() === before, { timeout: 5_000 });
  await succeeded(bench(...options));
  expect(cubicOf()).toBe(before);
  const { text, pictures } = report();
  for (const way of ["HTTP/1.1 on six, cubic", "HTTP/2, cubic, beta 0.02", "HTTP/2, cubic, from 100 packets", "HTTP/3"])
    expect(text).toContain(`| ${way} `);
  expect(pictures).toEqual(["windows.svg"]);
  const traced = new Set(rows("windows.csv").map(({ id }) => id));
  for (const load of ["beta-0.3/fixed-h1", "beta-0.3/fixed-h3", "beta-0.02/fixed-h2", "bbr/fixed-h2"])
    expect(traced).toContain(`${load}/trained/0`);
  expect(await leftBy(killed)).toEqual([]);
}, 300_000);

it("browser-page: every place and arm in a real browser, also after kill -9", async () => {
  const killed = await killedAt(3, bench("browser-page", "--quick"));
  expect(await succeeded(bench("browser-page", "--quick"))).toContain("Going on with browser-page");
  const made = rows();
  expect(made.filter(({ outcome }) => outcome !== "ok")).toEqual([]);
  // The browser follows the offer, and begins on QUIC only where it was told to.
  const over = (arm: string, navigation: string): Set<string> =>
    new Set(
      made.flatMap((row) => (row.arm === arm && row.navigation === navigation ? [row.documentProtocol ?? ""] : [])),
    );
  expect(over("fixed-h2", "2")).toEqual(new Set(["h2"]));
  expect(over("fixed-h3", "1")).toEqual(new Set(["h3"]));
  expect(over("always-offer", "1")).toEqual(new Set(["h2"]));
  expect(over("always-offer", "2")).toEqual(new Set(["h3"]));
  expect(over("files-h2", "1")).toEqual(new Set(["h3"]));
  const files = made
    .filter(({ arm }) => arm === "files-h2")
    .map(({ resourcesH2, resourcesH3 }) => [resourcesH2, resourcesH3]);
  expect(new Set(files.map(String))).toEqual(new Set(["14,0"]));
  for (const { lcpMs, loadMs } of made) {
    expect(Number(lcpMs)).toBeGreaterThan(0);
    // The page's last image is painted a few frames after its load event; a busy machine draws frames late.
    expect(Number(lcpMs)).toBeLessThanOrEqual(Number(loadMs) + 1_000);
  }
  const { text, pictures } = report();
  expect(text).toMatch(/Chromium \d+\.\d/);
  expect(pictures).toEqual(["far.svg"]);
  expect(await leftBy(killed)).toEqual([]);
}, 300_000);

it("levers-browser: pages and a return by every lever that a browser can meet", async () => {
  await succeeded(bench("levers-browser", "--quick"));
  const made = rows();
  expect(made.filter(({ outcome }) => outcome !== "ok")).toEqual([]);
  // The return too: a browser that was told to speak QUIC does so again.
  const over = (levers: RegExp): string[] =>
    made.filter(({ lever = "" }) => levers.test(lever)).map(({ documentProtocol = "" }) => documentProtocol);
  expect(over(/cubic|bbr/)).toEqual(Array<string>(5 * 4).fill("h2"));
  expect(over(/quic-go/)).toEqual(Array<string>(4).fill("h3"));
  expect(report().pictures).toEqual(["levers-browser.svg"]);
}, 180_000);
