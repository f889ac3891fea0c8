import { join, relative, resolve } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { buildEdge, buildWorker } from "../../../infra/setup/build.ts";
import { UserError } from "../../../base/user-error.ts";
import { activatePolicy } from "../../../infra/workerd/policy-client.ts";
import { buildK6 } from "../../lab/programs.ts";
import { offeringPolicy } from "../../lab/loopback-arms.ts";
import { type OverheadOptions, readOverheadOptions } from "../../harness/load-options.ts";
import { WARM_SECONDS } from "../../lab/loopback-clients.ts";
import { startOverheadSystem, TOKEN } from "../../lab/loopback-system.ts";
import { onInterruption } from "../../harness/interruption.ts";
import { machine } from "../../harness/machine.ts";
import { startProgress } from "../../harness/progress.ts";
import { openRunFolder, type RunFolder } from "../../harness/run-folder.ts";
import { measure } from "./measure.ts";
import { CALLER_SETUPS, CALLERS } from "./mix.ts";
import { writeApiLoadReport } from "./report.ts";
import { API_LOAD_ROW, type ApiLoadRow } from "./row.ts";
import { type Measurement, measurements, openRate } from "./schedule.ts";
import { summarizeApiLoad } from "./summary.ts";

/**
 * What calls of the API cost the visitors of the same worker, and what decisions cost their callers. Goes on where an
 * earlier run of the same command stopped.
 *
 * @throws UserError
 */
export async function apiLoad(args: readonly string[]): Promise<void> {
  const options = readOverheadOptions(args, { experiment: "api-load", seconds: 5, quickSeconds: 1 });
  const { rounds, seconds, seed } = options;
  const path = resolve(options.out ?? join(ROOT, ".adaptive-h3/bench/api-load"));
  const callers = Object.fromEntries(CALLERS.map((caller) => [caller, CALLER_SETUPS[caller].rate]));
  const asked = { experiment: "api-load", seed, seconds, warmSeconds: WARM_SECONDS, callers };
  const { signal, release } = onInterruption();
  const folder = openRunFolder(path, asked, API_LOAD_ROW, options.fresh);
  try {
    const all = measurements(rounds, seed);
    const have = new Set(folder.rows.map(({ id }) => id));
    const missing = all.filter(({ id }) => !have.has(id));
    if (missing.length > 0) {
      await buildWorker();
      await buildEdge();
      await buildK6();
      console.error(`${have.size > 0 ? "Going on" : "Measuring"}: ${missing.length} measurements, into ${path}.`);
      if (!signal.aborted) await run({ all, missing, folder, options, signal });
    }
    if (signal.aborted) {
      console.error(`Interrupted. ${folder.rows.length} rows are kept: the same command goes on.`);
      process.exitCode = 130;
      return;
    }
    const summary = summarizeApiLoad({
      rows: folder.rows.filter(({ round }) => round < rounds),
      command: ["npm run bench -- api-load", ...args.filter((arg) => arg !== "--fresh")].join(" "),
      options,
      machine: machine(),
    });
    const files = writeApiLoadReport(summary, folder);
    console.log(`${folder.rows.length} rows. In ${relative(process.cwd(), path) || "."}: ${files.join(", ")}.`);
  } finally {
    folder.close();
    release();
  }
}

async function run(work: {
  all: readonly Measurement[];
  missing: readonly Measurement[];
  folder: RunFolder<ApiLoadRow>;
  options: OverheadOptions;
  signal: AbortSignal;
}): Promise<void> {
  const { all, missing, folder, options } = work;
  const system = await startOverheadSystem(["adaptive"], undefined);
  const stopAll = new AbortController();
  const signal = AbortSignal.any([work.signal, stopAll.signal]);
  const progress = startProgress(1 - missing.length / all.length);
  let runs = 0;
  const measureAll = async (): Promise<void> => {
    const versions = await activateTwice(system.arms.get("adaptive")?.visitorsSocket ?? "");
    const measureOne = (measurement: Measurement): Promise<ApiLoadRow[] | undefined> => {
      const { loop, subject } = measurement;
      const rate = loop === "open" ? openRate(folder.rows, subject) : 0;
      return measure({ measurement, system, versions, rate, seconds: options.seconds, run: runs++, signal });
    };
    // Once unmeasured, so that code and caches are warm.
    for (const subject of ["pages", "pass", "decide-1", "decide-100"] as const)
      if (!signal.aborted) await measureOne({ id: `warm/${subject}`, loop: "closed", subject, round: -1 });
    for (const [done, measurement] of missing.entries()) {
      progress.show(1 - (missing.length - done) / all.length, measurement.id);
      const rows = await measureOne(measurement);
      if (rows === undefined) return;
      for (const row of rows) folder.append(row);
    }
    progress.show(1, `${folder.rows.length} rows`);
  };
  const measuring = measureAll();
  const failed = system.failed.then((why) => {
    throw new UserError(why);
  });
  try {
    await Promise.race([measuring, failed]);
  } finally {
    stopAll.abort();
    await measuring.catch(() => undefined);
    progress.end();
    await system.stop();
  }
}

/** Two versions that offer the same to everybody, for activations that change something and disturb no visitor. */
async function activateTwice(socket: string): Promise<number[]> {
  const versions: number[] = [];
  for (const source of ["one", "the other"])
    versions.push(await activatePolicy(socket, TOKEN, { ...offeringPolicy(), source }));
  return versions;
}
