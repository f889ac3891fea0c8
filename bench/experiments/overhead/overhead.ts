import { join, relative, resolve } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { buildEdge, buildWorker } from "../../../infra/setup/build.ts";
import { UserError } from "../../../base/user-error.ts";
import { buildK6 } from "../../lab/programs.ts";
import { onInterruption } from "../../harness/interruption.ts";
import { machine } from "../../harness/machine.ts";
import { startProgress } from "../../harness/progress.ts";
import { OVERHEAD_ARMS, type OverheadArm } from "../../lab/loopback-arms.ts";
import { measure } from "./measure.ts";
import { findNginx, nginxVersion } from "../../lab/nginx.ts";
import { type OverheadOptions, readOverheadOptions } from "../../harness/load-options.ts";
import { OVERHEAD_ROW, type OverheadRow } from "./row.ts";
import { SIZES } from "../../model/request-plan.ts";
import { openRunFolder, type RunFolder } from "../../harness/run-folder.ts";
import { CLIENTS, WARM_SECONDS } from "../../lab/loopback-clients.ts";
import { type Measurement, measurements, openRate } from "./schedule.ts";
import { summarizeOverhead } from "./summary.ts";
import { startOverheadSystem } from "../../lab/loopback-system.ts";
import { writeOverheadReport } from "./report.ts";

/**
 * What a request costs through the real edge over TLS and HTTP/2: alone, with a worker that only passes on, with this
 * worker; and through nginx. Goes on where an earlier run of the same command stopped.
 *
 * @throws UserError
 */
export async function overhead(args: readonly string[]): Promise<void> {
  const options = readOverheadOptions(args);
  const nginx = findNginx();
  if (nginx === undefined) console.error("There is no nginx here and it cannot be installed: its arm is left out.");
  const arms = OVERHEAD_ARMS.filter((arm) => arm !== "nginx" || nginx !== undefined);
  const { rounds, seconds, seed } = options;
  const path = resolve(options.out ?? join(ROOT, ".adaptive-h3/bench/overhead"));
  const asked = {
    experiment: "overhead",
    seed,
    seconds,
    warmSeconds: WARM_SECONDS,
    sizes: SIZES,
    clients: CLIENTS,
    arms,
  };
  const { signal, release } = onInterruption();
  const folder = openRunFolder(path, asked, OVERHEAD_ROW, options.fresh);
  try {
    const all = measurements(arms, rounds, seed);
    const have = new Set(folder.rows.map(({ id }) => id));
    const missing = all.filter(({ id }) => !have.has(id));
    if (missing.length > 0) {
      await buildWorker();
      await buildEdge();
      await buildK6();
      console.error(`${have.size > 0 ? "Going on" : "Measuring"}: ${missing.length} measurements, into ${path}.`);
      if (!signal.aborted) await run({ all, missing, arms, nginx, folder, options, signal });
    }
    if (signal.aborted) {
      console.error(`Interrupted. ${folder.rows.length} rows are kept: the same command goes on.`);
      process.exitCode = 130;
      return;
    }
    const ids = new Set(all.map(({ id }) => id));
    const summary = summarizeOverhead({
      rows: folder.rows.filter(({ id }) => ids.has(id)),
      arms,
      command: ["npm run bench -- overhead", ...args.filter((arg) => arg !== "--fresh")].join(" "),
      options,
      machine: { ...machine(), nginx: nginx === undefined ? null : nginxVersion(nginx) },
    });
    const files = await writeOverheadReport(summary, folder);
    console.log(`${folder.rows.length} rows. In ${relative(process.cwd(), path) || "."}: ${files.join(", ")}.`);
  } finally {
    folder.close();
    release();
  }
}

async function run(work: {
  all: readonly Measurement[];
  missing: readonly Measurement[];
  arms: readonly OverheadArm[];
  nginx: string | undefined;
  folder: RunFolder<OverheadRow>;
  options: OverheadOptions;
  signal: AbortSignal;
}): Promise<void> {
  const { all, missing, arms, folder, options } = work;
  const system = await startOverheadSystem(arms, work.nginx);
  const stopAll = new AbortController();
  const signal = AbortSignal.any([work.signal, stopAll.signal]);
  const progress = startProgress(1 - missing.length / all.length);
  const runs = new Map<OverheadArm, number>();
  const measureOne = (measurement: Measurement): Promise<OverheadRow | undefined> => {
    const { loop, size, arm } = measurement;
    const earlier = runs.get(arm) ?? 0;
    runs.set(arm, earlier + 1);
    const rate = loop === "open" ? openRate(folder.rows, size) : 0;
    return measure({ measurement, system, rate, seconds: options.seconds, run: earlier, signal });
  };
  const measureAll = async (): Promise<void> => {
    // Once unmeasured, so that code and caches are warm.
    for (const arm of arms)
      if (!signal.aborted) await measureOne({ id: `warm/${arm}`, loop: "closed", size: "small", round: -1, arm });
    for (const [done, measurement] of missing.entries()) {
      progress.show(1 - (missing.length - done) / all.length, measurement.id);
      const row = await measureOne(measurement);
      if (row === undefined) return;
      folder.append(row);
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
