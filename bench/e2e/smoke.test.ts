import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { csvParse, csvParseRows } from "d3-dsv";
import { afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { ROOT } from "../../infra/setup/build.ts";
import { requireGo } from "../../infra/setup/programs.ts";
import { loadsOf } from "../experiments/experiment.ts";
import { EXPERIMENTS } from "../experiments/list.ts";
import { CUBIC_FOLDER } from "../lab/cubic.ts";
import { namespaces } from "../lab/leftovers.ts";
import { buildLab, buildQuiche } from "../lab/programs.ts";
import { readOptions } from "../run/options.ts";

// The instrument as a person uses it, on real namespaces: needs root, and builds k6.

let folder: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "h3-smoke-"));
});
afterEach(async () => {
  for (const child of children.splice(0))
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  rmSync(folder, { recursive: true, force: true });
});

interface Bench {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; output: string }>;
}

function bench(...args: readonly string[]): Bench {
  const child = spawn(process.execPath, [join(ROOT, "bench/bench.ts"), ...args, "--out", join(folder, "run")], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text: Buffer) => (output += text.toString()));
  return { child, ended: once(child, "close").then(([code]) => ({ code: code as number | null, output })) };
}

function rows(): string[] {
  const file = join(folder, "run/rows.csv");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(1, -1) : [];
}

async function untilRows(count: number, during: Bench): Promise<void> {
  let over = false;
  void during.ended.then(() => (over = true));
  while (rows().length < count) {
    if (over) throw new Error((await during.ended).output);
    // Between two looks: the rows are another process's, which tells nobody.
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}

/** Processes with this in their command line. */
function processesWith(mark: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, "utf8").includes(mark);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Processes of a bench, its namespaces and its temporary folders: by the id of the process that made them. */
async function leftBy(pid: number): Promise<string[]> {
  const mark = `h3bench-${pid}-`;
  return [
    ...processesWith(mark).map(String),
    ...[...(await namespaces()), ...readdirSync(tmpdir())].filter((name) => name.startsWith(mark)),
  ];
}

/** The kernel's own parameters of CUBIC. */
function cubicOf(): string {
  return ["beta", "tcp_friendliness"].map((name) => readFileSync(join(CUBIC_FOLDER, name), "utf8").trim()).join(" ");
}

const LOADS = 2 * 5 * 3;

// The first build of k6 takes minutes, and is no part of what is tried here.
beforeAll(() => buildLab(), 1_800_000);

it("smoke: all arms and flows, every output, nothing left behind", async () => {
  const run = bench("smoke");
  const { code, output } = await run.ended;
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(rows().length).toBeGreaterThanOrEqual(LOADS * 5);
  const report = readFileSync(join(folder, "run/report.md"), "utf8");
  const pictures = [...report.matchAll(/!\[.*?\]\((.*?)\)/g)].map(([, file]) => file ?? "");
  expect(pictures).toHaveLength(3);
  for (const picture of pictures) expect(readFileSync(join(folder, "run", picture), "utf8")).toMatch(/^<svg/);
  expect(JSON.parse(readFileSync(join(folder, "run/summary.json"), "utf8"))).toMatchObject({ experiment: "smoke" });
  for (const arm of ["fixed-h2", "fixed-h3", "always-offer", "adaptive", "bare"]) expect(report).toContain(arm);
  expect(await leftBy(run.child.pid ?? 0)).toEqual([]);
}, 180_000);

it.each(["ohashi-grid", "ohashi-evaluation"])(
  "%s --quick: every cell, arm and flow, every picture, nothing left behind",
  async (name) => {
    const run = bench(name, "--quick", "--lanes", "4");
    const { code, output } = await run.ended;
    expect({ code, output }).toMatchObject({ code: 0 });
    const experiment = EXPERIMENTS[name]?.(readOptions(["--quick"]));
    const made = csvParse(readFileSync(join(folder, "run/rows.csv"), "utf8"));
    const asked = (experiment?.cells ?? []).flatMap((cell) =>
      loadsOf(experiment ?? { loads: [] }, cell).map(({ arm, flow }) => `${cell.id}/${arm}/${flow}`),
    );
    expect(new Set(made.map(({ cell, arm, flow }) => `${cell}/${arm}/${flow}`))).toEqual(new Set(asked));
    expect(made.filter(({ outcome }) => outcome === "failed")).toEqual([]);
    const report = readFileSync(join(folder, "run/report.md"), "utf8");
    expect(report).not.toMatch(/NaN|undefined|Infinity/);
    const pictures = [...report.matchAll(/!\[.*?\]\((.*?)\)/g)].map(([, file]) => file ?? "");
    expect(pictures.length).toBeGreaterThan(1);
    for (const picture of pictures) expect(readFileSync(join(folder, "run", picture), "utf8")).toMatch(/^<svg/);
    expect(JSON.parse(readFileSync(join(folder, "run/summary.json"), "utf8"))).toMatchObject({ experiment: name });
    expect(await leftBy(run.child.pid ?? 0)).toEqual([]);
  },
);

it("memory --quick: crowds over both protocols, interrupted and gone on with, nothing left behind", async () => {
  const stopped = bench("memory", "--quick");
  await untilRows(1, stopped);
  stopped.child.kill("SIGINT");
  expect(await stopped.ended).toMatchObject({ code: 130 });
  const run = bench("memory", "--quick");
  const { code, output } = await run.ended;
  expect({ code, output }).toMatchObject({ code: 0 });
  const made = csvParse(readFileSync(join(folder, "run/rows.csv"), "utf8"));
  expect(made).toHaveLength(2 * 2 * 2);
  for (const row of made) {
    // A crowd takes more than a new edge and one client do.
    expect(Number(row.edgePeakBytes)).toBeGreaterThan(Number(row.edgeBeforeBytes));
    expect(Number(row.clientPeakBytes)).toBeGreaterThan(10_000_000);
  }
  expect(readFileSync(join(folder, "run/report.md"), "utf8")).not.toMatch(/NaN|undefined|Infinity/);
  expect(readFileSync(join(folder, "run/memory.svg"), "utf8")).toMatch(/^<svg/);
  for (const one of [stopped, run]) expect(await leftBy(one.child.pid ?? 0)).toEqual([]);
}, 180_000);

it.each(["latency-sweep", "bandwidth-limits"])(
  "%s --quick: every place of every series, every output, nothing left behind",
  async (name) => {
    const run = bench(name, "--quick", "--lanes", "8");
    const { code, output } = await run.ended;
    expect({ code, output }).toMatchObject({ code: 0 });
    const { cells = [], series = [] } = EXPERIMENTS[name]?.(readOptions(["--quick"])) ?? {};
    const made = csvParse(readFileSync(join(folder, "run/rows.csv"), "utf8"));
    if (name === "latency-sweep")
      expect(readFileSync(join(folder, "run/report.md"), "utf8")).toContain("## A client that was here before");
    const measured = made.map(({ cell }) => cell);
    expect(new Set(measured)).toEqual(new Set(cells.map(({ id }) => id)));
    // A session that was to be resumed, or asked for in 0-RTT, and was not has failed.
    expect(made.filter(({ outcome }) => outcome === "failed")).toEqual([]);
    const report = readFileSync(join(folder, "run/report.md"), "utf8");
    for (const { id, title, points } of series) {
      const section = report.split("\n## ").find((one) => one.startsWith(`${title}\n`)) ?? "";
      expect(section).toContain(`](ratio-${id}.svg)`);
      expect(readFileSync(join(folder, `run/ratio-${id}.svg`), "utf8")).toMatch(/^<svg/);
      const labels = section.split("\n").map((line) => /^\| (.+?) +\|/.exec(line)?.[1]);
      for (const { label } of points) expect(labels).toContain(label);
    }
    expect(report).not.toMatch(/NaN|undefined|Infinity/);
    expect(JSON.parse(readFileSync(join(folder, "run/summary.json"), "utf8"))).toMatchObject({ experiment: name });
    expect(await leftBy(run.child.pid ?? 0)).toEqual([]);
  },
  180_000,
);

it("tcp-congestion --quick: every way, its windows, and the kernel's CUBIC as it was, also after kill -9", async () => {
  const before = cubicOf();
  const options = ["tcp-congestion", "--quick", "--lanes", "3"];
  const killed = bench(...options);
  await vi.waitUntil(() => cubicOf() !== before, { timeout: 120_000, interval: 20 });
  killed.child.kill("SIGKILL");
  await killed.ended;
  await vi.waitUntil(() => cubicOf() === before, { timeout: 5_000 });
  const again = bench(...options);
  const { code, output } = await again.ended;
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(cubicOf()).toBe(before);
  const report = readFileSync(join(folder, "run/report.md"), "utf8");
  for (const way of ["HTTP/1.1 on six, cubic", "HTTP/2, cubic, beta 0.02", "HTTP/2, cubic, from 100 packets", "HTTP/3"])
    expect(report).toContain(`| ${way} `);
  expect(report).not.toMatch(/NaN|undefined|Infinity/);
  for (const picture of ["times.svg", "windows.svg"])
    expect(readFileSync(join(folder, "run", picture), "utf8")).toMatch(/^<svg/);
  const traced = new Set(csvParse(readFileSync(join(folder, "run/windows.csv"), "utf8")).map(({ id }) => id));
  for (const load of ["beta-0.3/fixed-h1", "beta-0.3/fixed-h3", "beta-0.02/fixed-h2", "bbr/fixed-h2"])
    expect(traced).toContain(`${load}/trained/0`);
  for (const run of [killed, again]) expect(await leftBy(run.child.pid ?? 0)).toEqual([]);
}, 300_000);

it("stacks --quick: a server on quiche beside quic-go, its samples, nothing left behind", async () => {
  // Minutes the first time, as BoringSSL is built with it.
  await buildQuiche();
  execFileSync("cargo", ["test", "--release", "--locked", "--quiet", "--target-dir", join(ROOT, "dist/cargo")], {
    cwd: join(ROOT, "bench/quiche"),
    stdio: "pipe",
  });
  const killed = bench("stacks", "--quick", "--lanes", "2");
  await untilRows(3, killed);
  killed.child.kill("SIGKILL");
  await killed.ended;
  const run = bench("stacks", "--quick", "--lanes", "2");
  const { code, output } = await run.ended;
  expect({ code, output }).toMatchObject({ code: 0 });
  const made = csvParse(readFileSync(join(folder, "run/rows.csv"), "utf8"));
  for (const arm of ["fixed-h2", "fixed-h3", "quiche-cubic", "quiche-bbr2"]) {
    const own = made.filter((row) => row.arm === arm && row.outcome === "ok");
    expect(own.length, arm).toBeGreaterThanOrEqual(5);
    expect(new Set(own.map(({ lastProtocol }) => lastProtocol)), arm).toEqual(
      new Set([arm === "fixed-h2" ? "h2" : "h3"]),
    );
    // What the sender counted, whoever it is.
    const sent = own.map((row) => Number(arm === "fixed-h2" ? row.tcpPacketsSent : row.quicPacketsSent));
    expect(Math.min(...sent), arm).toBeGreaterThan(60);
  }
  const report = readFileSync(join(folder, "run/report.md"), "utf8");
  expect(report).not.toMatch(/NaN|undefined|Infinity/);
  for (const picture of ["ratio-cubic.svg", "ratio-bbr.svg"])
    expect(readFileSync(join(folder, "run", picture), "utf8")).toMatch(/^<svg/);
  for (const one of [killed, run]) expect(await leftBy(one.child.pid ?? 0)).toEqual([]);
}, 1_800_000);

it("calibration --quick --quic quiche-cubic: clients of the edge's HTTP/2 switch to quiche at the same address", async () => {
  await buildQuiche();
  const run = bench("calibration", "--quick", "--quic", "quiche-cubic", "--congestion", "bbr", "--lanes", "2");
  const { code, output } = await run.ended;
  expect({ code, output }).toMatchObject({ code: 0 });
  const made = csvParse(readFileSync(join(folder, "run/rows.csv"), "utf8")).filter(({ outcome }) => outcome === "ok");
  const offered = made.filter(({ arm }) => arm === "always-offer");
  expect(offered.length).toBeGreaterThan(10);
  for (const row of offered) {
    expect(row).toMatchObject({ documentProtocol: "h2", lastProtocol: "h3", switched: "true" });
    // The edge has told of the document, quiche of the image.
    expect(Number(row.tcpPacketsSent)).toBeGreaterThan(0);
    expect(Number(row.quicPacketsSent)).toBeGreaterThan(60);
  }
  expect(readFileSync(join(folder, "run/report.md"), "utf8")).toContain("quiche 0.30.0 with its cubic");
  expect(await leftBy(run.child.pid ?? 0)).toEqual([]);
  const refused = await bench("tcp-congestion", "--quick", "--quic", "quiche-cubic", "--fresh").ended;
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.output).toContain("--quic is for calibration");
}, 1_800_000);

it("ohashi-evaluation --quick --quic quiche-bbr2: the shipped policy decides, after what quiche and the edge have told", async () => {
  await buildQuiche();
  const run = bench(
    "ohashi-evaluation",
    "--quick",
    "--quic",
    "quiche-bbr2",
    "--congestion",
    "cubic",
    "--bytes",
    "300000",
  );
  const { code, output } = await run.ended;
  expect({ code, output }).toMatchObject({ code: 0 });
  const made = csvParse(readFileSync(join(folder, "run/rows.csv"), "utf8")).filter(({ arm }) => arm === "adaptive");
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
  const report = readFileSync(join(folder, "run/report.md"), "utf8");
  expect(report).not.toMatch(/NaN|undefined|Infinity/);
  expect(report).not.toContain("load-times-cold");
  expect(await leftBy(run.child.pid ?? 0)).toEqual([]);
}, 1_800_000);

it("browser-page --quick: every place and arm in a real browser, its handshake, nothing left behind, also after kill -9", async () => {
  const killed = bench("browser-page", "--quick");
  await untilRows(3, killed);
  killed.child.kill("SIGKILL");
  await killed.ended;
  const again = bench("browser-page", "--quick");
  const { code, output } = await again.ended;
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(output).toContain("Going on with browser-page");
  const made = csvParse(readFileSync(join(folder, "run/rows.csv"), "utf8"));
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
  const report = readFileSync(join(folder, "run/report.md"), "utf8");
  for (const type of ["Initial", "Handshake", "1-RTT"]) expect(report).toContain(`| ${type} `);
  for (const picture of ["fast.svg", "far.svg", "far-lcp.svg"])
    expect(readFileSync(join(folder, "run", picture), "utf8")).toMatch(/^<svg/);
  expect(report).not.toMatch(/NaN|undefined|Infinity/);
  for (const run of [killed, again]) expect(await leftBy(run.child.pid ?? 0)).toEqual([]);
}, 300_000);

it("goes on after kill -9, and then nothing is left of either start", async () => {
  const options = ["smoke", "--runs", "2", "--bytes", "20000"];
  const killed = bench(...options);
  await untilRows(5, killed);
  killed.child.kill("SIGKILL");
  await killed.ended;
  const before = rows();
  const again = bench(...options);
  const { code, output } = await again.ended;
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(output).toContain("Going on with smoke");
  expect(rows().slice(0, before.length)).toEqual(before);
  const ids = rows().map((row) => row.slice(0, row.indexOf(",")));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThanOrEqual(LOADS * 2);
  expect(await leftBy(killed.child.pid ?? 0)).toEqual([]);
  expect(await leftBy(again.child.pid ?? 0)).toEqual([]);
});

it("Ctrl-C keeps the rows, says so, and leaves nothing", async () => {
  const run = bench("smoke", "--bytes", "20000");
  await untilRows(3, run);
  run.child.kill("SIGINT");
  const { code, output } = await run.ended;
  expect(code).toBe(130);
  expect(output).toMatch(/Interrupted\. \d+ rows are kept: the same command goes on\./);
  expect(rows().length).toBeGreaterThanOrEqual(3);
  expect(await leftBy(run.child.pid ?? 0)).toEqual([]);
});

it("ends when a server dies, says which, keeps the rows, and calls no load failed for it", async () => {
  const run = bench("smoke", "--bytes", "20000");
  await untilRows(3, run);
  const origin = processesWith(`h3bench-${run.child.pid}-run/origin.sock`)[0];
  expect(origin).toBeDefined();
  process.kill(origin ?? 0, "SIGKILL");
  const { code, output } = await run.ended;
  expect(code).toBe(1);
  expect(output).toContain("The origin ended by itself (signal SIGKILL).");
  expect(rows().length).toBeGreaterThanOrEqual(3);
  expect(rows().filter((row) => row.includes(",failed,"))).toEqual([]);
  expect(await leftBy(run.child.pid ?? 0)).toEqual([]);
});

it("ends when the disk is full, says so, and keeps the rows whole", async () => {
  mkdirSync(join(folder, "run"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=24k", "tmpfs", join(folder, "run")]);
  try {
    const run = bench("smoke", "--bytes", "20000");
    const { code, output } = await run.ended;
    expect(code).toBe(1);
    expect(output).toMatch(/rows\.csv cannot be written: ENOSPC.*The rows so far are kept\./);
    const whole = rows();
    expect(whole.length).toBeGreaterThan(0);
    const width = readFileSync(join(folder, "run/rows.csv"), "utf8").split("\n")[0]?.split(",").length;
    for (const row of csvParseRows(whole.join("\n"))) expect(row).toHaveLength(width ?? 0);
    expect(await leftBy(run.child.pid ?? 0)).toEqual([]);
  } finally {
    execFileSync("umount", [join(folder, "run")]);
  }
});

it("the k6 binary keeps what k6 has: options, thresholds, outputs", () => {
  const go = requireGo();
  const cwd = join(ROOT, "bench/k6");
  expect(execFileSync(go, ["vet", "./..."], { cwd, encoding: "utf8" })).toBe("");
  expect(execFileSync(go, ["test", "./extension"], { cwd, encoding: "utf8" })).toMatch(/^ok /);
});
