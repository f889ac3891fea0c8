import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import type { BrowserSummary } from "../experiments/browser-page/summary.ts";
import { loadsOf } from "../model/load-experiment.ts";
import { findExperiments } from "../harness/find-experiments.ts";
import type { LoadsExperiment } from "../harness/loads/define.ts";
import { exampleOptions } from "../harness/loads/testing.ts";
import type { LoadExperiment } from "../model/load-experiment.ts";
import { CUBIC_FOLDER } from "../lab/cubic.ts";
import { buildQuiche } from "../lab/programs.ts";
import { bench, inRun, killedAt, leftBy, report, rows, succeeded, untilRows, useRuns } from "./runs.ts";

// The quick version of every experiment: all that it measures, every output, nothing left behind.

/** With the build of quiche, and of BoringSSL in it, the first time. */
const WITH_QUICHE_MS = 1_800_000;

useRuns();

/** The quick version of an experiment made of loads, as data. */
async function planOf(name: string): Promise<LoadExperiment | undefined> {
  const found = (await findExperiments()).get(name) as LoadsExperiment<object> | undefined;
  return found?.definition.plan(exampleOptions("--quick"));
}

function summary(): unknown {
  return JSON.parse(readFileSync(inRun("summary.json"), "utf8"));
}

it("smoke: all arms and flows", async () => {
  await succeeded(bench("smoke"));
  expect(rows().length).toBeGreaterThanOrEqual(2 * 5 * 3 * 5);
  const { text, pictures } = report();
  expect(pictures).toHaveLength(3);
  expect(summary()).toMatchObject({ experiment: "smoke" });
  for (const arm of ["fixed-h2", "fixed-h3", "always-offer", "adaptive", "bare"]) expect(text).toContain(arm);
}, 180_000);

it.each(["ohashi-grid", "ohashi-evaluation"])("%s: every cell, arm and flow", async (name) => {
  await succeeded(bench(name, "--quick", "--lanes", "4"));
  const experiment = await planOf(name);
  const asked = (experiment?.cells ?? []).flatMap((cell) =>
    loadsOf(experiment ?? { loads: [] }, cell).map(({ arm, flow }) => `${cell.id}/${arm}/${flow}`),
  );
  expect(new Set(rows().map(({ cell, arm, flow }) => `${cell}/${arm}/${flow}`))).toEqual(new Set(asked));
  expect(rows().filter(({ outcome }) => outcome === "failed")).toEqual([]);
  expect(report().pictures.length).toBeGreaterThan(1);
  expect(summary()).toMatchObject({ experiment: name });
});

it("memory: crowds over both protocols, interrupted and gone on with", async () => {
  const stopped = bench("memory", "--quick");
  await untilRows(1, stopped);
  stopped.child.kill("SIGINT");
  expect(await stopped.ended).toMatchObject({ code: 130 });
  await succeeded(bench("memory", "--quick"));
  expect(rows()).toHaveLength(2 * 2 * 2);
  for (const row of rows()) {
    // A crowd takes more than a new edge and one client do.
    expect(Number(row.edgePeakBytes)).toBeGreaterThan(Number(row.edgeBeforeBytes));
    expect(Number(row.clientPeakBytes)).toBeGreaterThan(10_000_000);
  }
  expect(report().pictures).toEqual(["memory.svg"]);
  expect(await leftBy(stopped)).toEqual([]);
}, 180_000);

it.each(["latency-sweep", "bandwidth-limits"])(
  "%s: every place of every series",
  async (name) => {
    await succeeded(bench(name, "--quick", "--lanes", "8"));
    const { cells = [], series = [] } = (await planOf(name)) ?? {};
    expect(new Set(rows().map(({ cell }) => cell))).toEqual(new Set(cells.map(({ id }) => id)));
    // A session that was to be resumed, or asked for in 0-RTT, and was not has failed.
    expect(rows().filter(({ outcome }) => outcome === "failed")).toEqual([]);
    const { text, pictures } = report();
    if (name === "latency-sweep") expect(text).toContain("## A client that was here before");
    for (const { id, title, points } of series) {
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
  expect(pictures).toEqual(expect.arrayContaining(["times.svg", "windows.svg"]));
  const traced = new Set(rows("windows.csv").map(({ id }) => id));
  for (const load of ["beta-0.3/fixed-h1", "beta-0.3/fixed-h3", "beta-0.02/fixed-h2", "bbr/fixed-h2"])
    expect(traced).toContain(`${load}/trained/0`);
  expect(await leftBy(killed)).toEqual([]);
}, 300_000);

it(
  "stacks: a server on quiche beside quic-go, and its samples, also after kill -9",
  async () => {
    await buildQuiche();
    const options = ["stacks", "--quick", "--lanes", "2"];
    const killed = await killedAt(3, bench(...options));
    await succeeded(bench(...options));
    for (const arm of ["fixed-h2", "fixed-h3", "quiche-cubic", "quiche-bbr2"]) {
      const own = rows().filter((row) => row.arm === arm && row.outcome === "ok");
      expect(own.length, arm).toBeGreaterThanOrEqual(5);
      expect(new Set(own.map(({ lastProtocol }) => lastProtocol)), arm).toEqual(
        new Set([arm === "fixed-h2" ? "h2" : "h3"]),
      );
      // What the sender counted, whoever it is.
      const sent = own.map((row) => Number(arm === "fixed-h2" ? row.tcpPacketsSent : row.quicPacketsSent));
      expect(Math.min(...sent), arm).toBeGreaterThan(60);
    }
    expect(report().pictures).toEqual(expect.arrayContaining(["ratio-cubic.svg", "ratio-bbr.svg"]));
    expect(await leftBy(killed)).toEqual([]);
  },
  WITH_QUICHE_MS,
);

it(
  "calibration --quic quiche-cubic: clients of the edge's HTTP/2 switch to quiche at the same address",
  async () => {
    await buildQuiche();
    await succeeded(bench("calibration", "--quick", "--quic", "quiche-cubic", "--congestion", "bbr", "--lanes", "2"));
    const offered = rows().filter(({ arm, outcome }) => arm === "always-offer" && outcome === "ok");
    expect(offered.length).toBeGreaterThan(10);
    for (const row of offered) {
      expect(row).toMatchObject({ documentProtocol: "h2", lastProtocol: "h3", switched: "true" });
      // The edge has told of the document, quiche of the image.
      expect(Number(row.tcpPacketsSent)).toBeGreaterThan(0);
      expect(Number(row.quicPacketsSent)).toBeGreaterThan(60);
    }
    expect(report().text).toContain("quiche 0.30.0 with its cubic");
    const refused = await bench("tcp-congestion", "--quick", "--quic", "quiche-cubic", "--fresh").ended;
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.output).toContain("--quic is for calibration");
  },
  WITH_QUICHE_MS,
);

it(
  "ohashi-evaluation --quic quiche-bbr2: the shipped policy decides, after what quiche and the edge have told",
  async () => {
    await buildQuiche();
    const options = ["--quick", "--quic", "quiche-bbr2", "--congestion", "cubic", "--bytes", "300000"];
    await succeeded(bench("ohashi-evaluation", ...options));
    const made = rows().filter(({ arm }) => arm === "adaptive");
    expect(made.filter(({ outcome }) => outcome !== "ok")).toEqual([]);
    for (const row of made) {
      expect(row.documentProtocol).toBe("h2");
      // The session before was the other server's, or the edge's, and the worker was told of either.
      expect(row.trainedOn).toBe(row.flow === "trained" ? "quic" : "tcp");
      expect(Number(row.trainedPacketsSent)).toBeGreaterThan(100);
      expect(row.lastProtocol).toBe(row.switched === "true" ? "h3" : "h2");
    }
    // With loss and delay its BBRv2 is several times as fast as TCP's cubic, and without either it is not: the policy knows it.
    const switchedIn = (cell: string): number => {
      const own = made.filter((row) => row.cell === cell);
      return own.filter(({ switched }) => switched === "true").length / own.length;
    };
    for (const far of ["6-cubic", "9-cubic"]) expect(switchedIn(far), far).toBeGreaterThan(0.5);
    expect(switchedIn("1-cubic")).toBeLessThan(0.5);
    expect(report().text).not.toContain("load-times-cold");
  },
  WITH_QUICHE_MS,
);

it("browser-page: every place and arm in a real browser, and a handshake, also after kill -9", async () => {
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
  for (const { lcpMs, loadMs } of made) {
    expect(Number(lcpMs)).toBeGreaterThan(0);
    expect(Number(lcpMs)).toBeLessThanOrEqual(Number(loadMs) + 200);
  }
  const { text, pictures } = report();
  for (const type of ["Initial", "Handshake", "1-RTT"]) expect(text).toContain(`| ${type} `);
  // One browser alone and two at a time, each with a connection that carried its page.
  const { slowStarts } = (
    JSON.parse(readFileSync(inRun("connections.json"), "utf8")) as Pick<BrowserSummary, "connections">
  ).connections;
  expect(slowStarts.map(({ connections }) => connections.length)).toEqual([1, 2]);
  for (const { transferMs } of slowStarts.flatMap(({ connections }) => connections))
    expect(transferMs).toBeGreaterThan(300);
  expect(pictures).toEqual(["fast.svg", "far.svg", "far-lcp.svg"]);
  expect(await leftBy(killed)).toEqual([]);
}, 300_000);
