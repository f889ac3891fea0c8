import { join } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { startProgram } from "../../../infra/workerd/processes.ts";
import { quantile } from "../../analysis/statistics/summary.ts";
import { measurementId } from "../../harness/loopback/schedule.ts";
import type { CountedSeconds, RunningCompany } from "../../harness/loopback/subject.ts";
import { blankRow } from "../../model/row-schema.ts";
import { type CallerName, CALLERS, type CallersPlan, type CallSamples } from "./mix.ts";
import { API_LOAD_ROW } from "./row.ts";

/** Starts callers.ts and returns when all are connected. @throws UserError */
export async function startCallers(plan: CallersPlan): Promise<RunningCompany> {
  const ready = Promise.withResolvers<void>();
  const said: string[] = [];
  let samples: CallSamples | undefined;
  const program = startProgram(process.execPath, {
    args: [join(ROOT, "bench/experiments/api-load/callers.ts")],
    env: { PLAN: JSON.stringify(plan) },
    onLine: (line) => {
      if (line === "ready") ready.resolve();
      else samples = JSON.parse(line) as CallSamples;
    },
    onErrorLine: (line) => said.push(line),
  });
  const failure = (why: string): UserError =>
    new UserError([`The callers of the API ended (${why}).`, ...said.slice(-10)].join("\n"));
  void program.ended.then((why) => ready.reject(failure(why)));
  await ready.promise;
  return {
    pid: program.pid,
    stop: async () => {
      await program.stop();
      const why = await program.ended;
      if (samples === undefined) throw failure(why);
      const met = samples;
      return (counted) => callerRows(met, counted);
    },
  };
}

/** What each kind of caller met: of the calls that were due in the seconds that count. */
export function callerRows(samples: CallSamples, counted: CountedSeconds) {
  const { subject: visitors, beganMs, seconds, round, startedMs } = counted;
  return Object.entries(samples).map(([caller, calls]) => {
    const due = calls.filter(([dueMs]) => dueMs >= beganMs && dueMs < beganMs + seconds * 1000);
    // A latency counts from when the call was due: lateness is in it.
    const latencies = due.filter(([, , ok]) => ok).map(([, latencyMs]) => latencyMs);
    const latency = (probability: number) => (latencies.length === 0 ? null : quantile(latencies, probability));
    const subject = `${caller} beside ${visitors}`;
    return blankRow(API_LOAD_ROW, {
      id: measurementId("open", subject, round),
      loop: "open",
      subject,
      round,
      startedMs,
      clients: 1,
      rate: CALLERS[caller as CallerName].rate,
      answers: latencies.length,
      failures: due.length - latencies.length,
      requestsPerSecond: latencies.length / seconds,
      latencyMedianMs: latency(0.5),
      latencyP90Ms: latency(0.9),
      latencyP99Ms: latency(0.99),
    });
  });
}
