import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { ROOT } from "../../infra/setup/build.ts";
import { UserError } from "../../infra/setup/programs.ts";
import { startProgram } from "../../infra/workerd/processes.ts";
import { K6_PROGRAM } from "../lab/programs.ts";
import { OVERHEAD_SETUPS } from "./arms.ts";
import { CORES, cpuMs, machineBusyMs } from "./cpu.ts";
import type { LoadCounts, LoadPlan } from "./load-plan.ts";
import { type OverheadRow, SIZES } from "./row.ts";
import { CLIENTS, clientAddresses, type Measurement, WARM_SECONDS } from "./schedule.ts";
import type { OverheadSystem } from "./system.ts";

export interface MeasureOptions {
  readonly measurement: Measurement;
  readonly system: OverheadSystem;
  /** Requests per second, of an open loop. */
  readonly rate: number;
  readonly seconds: number;
  /** Counts the arm's measurements: each has clients of its own. */
  readonly run: number;
  readonly signal: AbortSignal;
}

/** CPU time of everything that takes part, milliseconds. */
interface CpuReading {
  readonly atMs: number;
  readonly front: number;
  readonly workerd: number;
  readonly origin: number;
  readonly client: number;
  readonly machine: number;
}

/** Makes one measurement; undefined where it was interrupted. @throws UserError where k6 fails */
export async function measure(options: MeasureOptions): Promise<OverheadRow | undefined> {
  const { measurement, system, rate, seconds, signal } = options;
  const { loop, size, arm } = measurement;
  const processes = system.arms.get(arm);
  if (processes === undefined) throw new UserError(`${arm} does not run.`);
  const { secFetchDest, offers } = OVERHEAD_SETUPS[arm];
  const clients = CLIENTS[loop][size];
  const plan: LoadPlan = {
    url: `${processes.url}/image/${SIZES[size]}`,
    secFetchDest,
    offers,
    bodyBytes: SIZES[size],
    loop,
    clients,
    rate,
    warmSeconds: WARM_SECONDS,
    seconds,
  };
  const began = Promise.withResolvers<number | undefined>();
  const said: string[] = [];
  let counts: LoadCounts | undefined;
  const startedMs = Date.now();
  const k6 = startProgram(K6_PROGRAM, {
    args: [
      ["run", "--quiet", "--no-usage-report", "--local-ips", clientAddresses(options.run, clients).join()],
      ["-e", `PLAN=${JSON.stringify(plan)}`, join(ROOT, "bench/overhead/load.ts")],
    ].flat(),
    env: { K6_AUTO_EXTENSION_RESOLUTION: "false" },
    onLine: (line) => {
      if (line.startsWith("{")) counts = JSON.parse(line) as LoadCounts;
    },
    onErrorLine: (line) => {
      const ms = /began (\d+)/.exec(line)?.[1];
      if (ms === undefined) said.push(line);
      else began.resolve(Number(ms));
    },
    graceMs: 2_000,
  });
  const stop = (): void => void k6.stop("SIGKILL");
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const ended = k6.ended.then((why) => {
    began.resolve(undefined);
    return why;
  });
  const read = (): CpuReading => ({
    atMs: performance.now(),
    front: cpuMs(processes.frontPids()),
    workerd: cpuMs(processes.workerdPid === undefined ? [] : [processes.workerdPid]),
    origin: cpuMs([system.originPid]),
    client: cpuMs([k6.pid]),
    machine: machineBusyMs(),
  });
  const beganMs = await began.promise;
  let readings: [CpuReading, CpuReading] | undefined;
  if (beganMs !== undefined) {
    const first = read();
    await Promise.race([wait(Math.max(0, beganMs + seconds * 1000 - Date.now())), ended]);
    readings = [first, read()];
  }
  const why = await ended;
  signal.removeEventListener("abort", stop);
  if (signal.aborted) return undefined;
  if (why !== "exit code 0" || counts === undefined || readings === undefined || counts.answers === 0)
    throw new UserError(
      [
        `${measurement.id}: no request was answered as it should be (k6: ${why}; ${counts?.failures ?? 0} failures).`,
        ...new Set(said.slice(-10)),
      ].join("\n"),
    );
  return {
    ...measurement,
    startedMs,
    clients,
    rate: loop === "open" ? rate : null,
    ...counts,
    requestsPerSecond: counts.answers / seconds,
    ...cpuOf(readings, counts.answers / seconds, processes.workerdPid !== undefined),
  };
}

/**
 * CPU time per request. The readings are taken at about the same seconds as the requests were counted; over their own
 * time they give CPU time per second.
 */
function cpuOf(
  [first, last]: readonly [CpuReading, CpuReading],
  requestsPerSecond: number,
  hasWorkerd: boolean,
): Pick<OverheadRow, "frontCpuUs" | "workerdCpuUs" | "originCpuUs" | "clientCpuUs" | "foreignRatio"> {
  const tookMs = last.atMs - first.atMs;
  const used = (who: Exclude<keyof CpuReading, "atMs">): number => last[who] - first[who];
  const perRequestUs = (ms: number): number => ((ms / tookMs) * 1e6) / requestsPerSecond;
  const own = used("front") + used("workerd") + used("origin") + used("client");
  return {
    frontCpuUs: perRequestUs(used("front")),
    workerdCpuUs: hasWorkerd ? perRequestUs(used("workerd")) : null,
    originCpuUs: perRequestUs(used("origin")),
    clientCpuUs: perRequestUs(used("client")),
    foreignRatio: Math.max(0, used("machine") - own) / (tookMs * CORES),
  };
}
