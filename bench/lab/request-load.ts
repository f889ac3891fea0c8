import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { UserError } from "../../base/user-error.ts";
import { startK6 } from "./k6.ts";
import { CORES, cpuMs } from "./cpu.ts";
import { machineBusyMs } from "./cores.ts";
import type { LoadCounts, LoadPlan } from "../model/request-plan.ts";

export interface RequestLoad {
  /** As errors call it. */
  readonly name: string;
  readonly plan: LoadPlan;
  /** Of the clients, on the loopback. */
  readonly addresses: readonly string[];
  readonly processes: {
    readonly frontPids: () => number[];
    readonly workerdPid: number | undefined;
    readonly originPid: number;
    /** Whatever else takes part. */
    readonly otherPids?: readonly number[];
  };
  readonly signal: AbortSignal;
}

/** What a load counted, and what it cost. CPU times are per request that was answered. */
export interface LoadFigures extends LoadCounts {
  /** When the seconds that count began, milliseconds since the epoch. */
  readonly beganMs: number;
  readonly requestsPerSecond: number;
  readonly frontCpuUs: number;
  /** Null without a workerd. */
  readonly workerdCpuUs: number | null;
  readonly originCpuUs: number;
  readonly clientCpuUs: number;
  /** Of the machine's cores, what programs used that are no part of this. */
  readonly foreignRatio: number;
}

/** CPU time of everything that takes part, milliseconds. */
interface CpuReading {
  readonly atMs: number;
  readonly front: number;
  readonly workerd: number;
  readonly origin: number;
  readonly client: number;
  readonly others: number;
  readonly machine: number;
}

/** Runs one load by k6; undefined where it was interrupted. @throws UserError where k6 fails, or nothing is answered */
export async function runRequests(run: RequestLoad): Promise<LoadFigures | undefined> {
  const { name, plan, processes, signal } = run;
  const began = Promise.withResolvers<number | undefined>();
  let counts: LoadCounts | undefined;
  const k6 = startK6({
    script: "requests.ts",
    env: { PLAN: JSON.stringify(plan) },
    flags: ["--local-ips", run.addresses.join()],
    signal,
    onLine: (line) => {
      if (line.startsWith("{")) counts = JSON.parse(line) as LoadCounts;
    },
    onErrorLine: (line) => {
      const ms = /began (\d+)/.exec(line)?.[1];
      if (ms !== undefined) began.resolve(Number(ms));
      return ms !== undefined;
    },
  });
  const ended = k6.ended.then((why) => {
    began.resolve(undefined);
    return why;
  });
  const read = (): CpuReading => ({
    atMs: performance.now(),
    front: cpuMs(processes.frontPids()),
    workerd: cpuMs(processes.workerdPid === undefined ? [] : [processes.workerdPid]),
    origin: cpuMs([processes.originPid]),
    client: cpuMs([k6.pid]),
    others: cpuMs(processes.otherPids ?? []),
    machine: machineBusyMs(),
  });
  const beganMs = await began.promise;
  let readings: [CpuReading, CpuReading] | undefined;
  if (beganMs !== undefined) {
    const first = read();
    await Promise.race([wait(Math.max(0, beganMs + plan.seconds * 1000 - Date.now())), ended]);
    readings = [first, read()];
  }
  await ended;
  if (signal.aborted) return undefined;
  const about = `${name}: no request was answered as it should be, ${counts?.failures ?? 0} failures`;
  await k6.assertEndedWell(about);
  if (counts === undefined || beganMs === undefined || readings === undefined || counts.answers === 0)
    throw new UserError(`${about}.`);
  const requestsPerSecond = counts.answers / plan.seconds;
  return {
    ...counts,
    beganMs,
    requestsPerSecond,
    ...cpuOf(readings, requestsPerSecond, processes.workerdPid !== undefined),
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
): Pick<LoadFigures, "frontCpuUs" | "workerdCpuUs" | "originCpuUs" | "clientCpuUs" | "foreignRatio"> {
  const tookMs = last.atMs - first.atMs;
  const used = (who: Exclude<keyof CpuReading, "atMs">): number => last[who] - first[who];
  const perRequestUs = (ms: number): number => ((ms / tookMs) * 1e6) / requestsPerSecond;
  const own = used("front") + used("workerd") + used("origin") + used("client") + used("others");
  return {
    frontCpuUs: perRequestUs(used("front")),
    workerdCpuUs: hasWorkerd ? perRequestUs(used("workerd")) : null,
    originCpuUs: perRequestUs(used("origin")),
    clientCpuUs: perRequestUs(used("client")),
    foreignRatio: Math.max(0, used("machine") - own) / (tookMs * CORES),
  };
}
