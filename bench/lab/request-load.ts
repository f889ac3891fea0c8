import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { UserError } from "../../base/user-error.ts";
import type { LoadCounts, LoadPlan } from "../model/request-plan.ts";
import { CORES, cpuMs, machineBusyMs } from "./cores.ts";
import { startK6 } from "./k6.ts";

/** Loopback addresses (RFC 1122, 3.2.1.3) for k6's --local-ips, each in a /24 of its own, as visitors' mostly are. */
export function clientAddresses(run: number, clients: number): string[] {
  return Array.from({ length: clients }, (_, client) => `127.${1 + (run % 254)}.${client}.1`);
}

/**
 * Runs one load by k6: what it counted, and what each answer cost. Undefined where it was interrupted.
 *
 * @throws UserError where k6 fails, or nothing is answered
 */
export async function runRequests(options: {
  /** As errors call it. */
  readonly name: string;
  readonly plan: LoadPlan;
  /** Names the clients: in the next run others come, so that a server meets nobody whom it knows. */
  readonly run: number;
  readonly frontPids: () => number[];
  readonly workerdPid: number | undefined;
  readonly originPid: number;
  readonly signal: AbortSignal;
}) {
  const { name, plan, run, frontPids, workerdPid, originPid, signal } = options;
  const began = Promise.withResolvers<number | undefined>();
  let counts: LoadCounts | undefined;
  const k6 = startK6({
    script: "requests.ts",
    env: { PLAN: JSON.stringify(plan) },
    flags: ["--local-ips", clientAddresses(run, plan.clients).join()],
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
  const ended = k6.ended.then(() => began.resolve(undefined));
  const beganMs = await began.promise;
  const read = () => ({
    atMs: performance.now(),
    machine: machineBusyMs(),
    front: cpuMs(frontPids()),
    workerd: workerdPid === undefined ? 0 : cpuMs([workerdPid]),
    origin: cpuMs([originPid]),
    client: cpuMs([k6.pid]),
  });
  const first = read();
  if (beganMs !== undefined) await Promise.race([wait(Math.max(0, beganMs + plan.seconds * 1000 - Date.now())), ended]);
  const last = read();
  await ended;
  if (signal.aborted) return undefined;
  const about = `${name}: no request was answered as it should be, ${counts?.failures ?? 0} failures`;
  await k6.assertEndedWell(about);
  if (counts === undefined || beganMs === undefined || counts.answers === 0) throw new UserError(`${about}.`);
  const requestsPerSecond = counts.answers / plan.seconds;
  // The readings are taken at about the same seconds as the requests were counted: over their own time they give CPU time
  // per second.
  const tookMs = last.atMs - first.atMs;
  const usedMs = (who: keyof typeof first): number => last[who] - first[who];
  const perAnswerUs = (who: keyof typeof first): number => ((usedMs(who) / tookMs) * 1e6) / requestsPerSecond;
  const ownMs = usedMs("front") + usedMs("workerd") + usedMs("origin") + usedMs("client");
  return {
    ...counts,
    requestsPerSecond,
    frontCpuUs: perAnswerUs("front"),
    workerdCpuUs: workerdPid === undefined ? null : perAnswerUs("workerd"),
    originCpuUs: perAnswerUs("origin"),
    clientCpuUs: perAnswerUs("client"),
    foreignRatio: Math.max(0, usedMs("machine") - ownMs) / (tookMs * CORES),
  };
}
