import { quantile } from "../../analysis/statistics/summary.ts";
import { CALLER_SETUPS, type Caller, type CallSample, type CallSamples } from "./mix.ts";
import type { ApiLoadRow } from "./row.ts";
import type { Subject } from "./subjects.ts";

/** What each kind of caller met: of the calls that were due in the seconds that count. */
export function callerRows(
  samples: CallSamples,
  measured: { beside: Subject; beganMs: number; seconds: number; round: number; startedMs: number },
): ApiLoadRow[] {
  const { beside, beganMs, seconds, round, startedMs } = measured;
  return (Object.entries(samples) as [Caller, readonly CallSample[]][]).map(([caller, calls]) => {
    const due = calls.filter(([dueMs]) => dueMs >= beganMs && dueMs < beganMs + seconds * 1000);
    const latencies = due.filter(([, , ok]) => ok).map(([, latencyMs]) => latencyMs);
    const latency = (probability: number): number | null =>
      latencies.length === 0 ? null : quantile(latencies, probability);
    return {
      id: `open/${caller} beside ${beside}/${round}`,
      loop: "open",
      subject: `${caller} beside ${beside}`,
      round,
      startedMs,
      clients: 1,
      rate: CALLER_SETUPS[caller].rate,
      answers: latencies.length,
      failures: due.length - latencies.length,
      dropped: 0,
      requestsPerSecond: latencies.length / seconds,
      latencyMedianMs: latency(0.5),
      latencyP90Ms: latency(0.9),
      latencyP99Ms: latency(0.99),
      // A latency counts from when the call was due: lateness is in it.
      lateP99Ms: null,
      frontCpuUs: null,
      workerdCpuUs: null,
      originCpuUs: null,
      clientCpuUs: null,
      foreignRatio: null,
    };
  });
}
