import execution from "k6/execution";
import http from "k6/http";
import { Counter, Trend } from "k6/metrics";
import type { LoadCounts, LoadPlan } from "../../model/request-plan.ts";

// Asks the same again and again over HTTP/2, by k6's own client, as PLAN says; bench/lab/request-load.ts starts it. A k6 user is a
// client: one connection, kept alive, from one address. Prints what it counted as one line of JSON.

const plan = JSON.parse(__ENV["PLAN"] ?? "null") as LoadPlan;
const durationMs = Math.round(plan.seconds * 1000);

/** For what was asked to be answered, and the warm-up's users to be free again for the load: they keep connections. */
const REST_MS = 250;
const WARM_REQUESTS = 2;
const warmMs = Math.round(plan.warmSeconds * 1000);
const measured = {
  startTime: `${warmMs}ms`,
  // k6 takes nothing below 1 s: what comes after the seconds that count is left out.
  duration: `${Math.max(1_000, durationMs)}ms`,
  gracefulStop: "10s",
  exec: "loadOnce",
};

export const options = {
  // The development certificate, on the loopback.
  insecureSkipTLSVerify: true,
  discardResponseBodies: true,
  summaryTrendStats: ["med", "p(90)", "p(99)"],
  scenarios: {
    warm: {
      executor: "per-vu-iterations",
      vus: plan.clients,
      iterations: WARM_REQUESTS,
      maxDuration: `${warmMs - REST_MS}ms`,
      gracefulStop: "0s",
      exec: "warmUp",
    },
    load:
      plan.loop === "closed"
        ? { ...measured, executor: "constant-vus", vus: plan.clients }
        : {
            ...measured,
            executor: "constant-arrival-rate",
            rate: plan.rate,
            timeUnit: "1s",
            preAllocatedVUs: plan.clients,
            maxVUs: plan.clients,
          },
  },
};

const latency = new Trend("h3_latency", true);
const late = new Trend("h3_late", true);
const answers = new Counter("h3_answers");
const failures = new Counter("h3_failures");

function ask(): ReturnType<typeof http.get> {
  return http.get(plan.url, { headers: plan.headers });
}

export function warmUp(): void {
  ask();
}

export function loadOnce(): void {
  const { startTime, iterationInTest } = execution.scenario;
  // The starter reads the CPU time of the servers for the same seconds.
  if (iterationInTest === 0) console.log(`began ${startTime}`);
  const beganMs = Date.now() - startTime;
  const { status, proto, headers, timings } = ask();
  // A closed loop's throughput is what was answered in the time, an open one's latency that of what left in it.
  if ((plan.loop === "closed" ? Date.now() - startTime : beganMs) >= durationMs) return;
  if (
    status !== 200 ||
    proto !== "HTTP/2.0" ||
    headers["Content-Length"] !== String(plan.bodyBytes) ||
    (headers["Alt-Svc"] ?? "").startsWith("h3=") !== plan.offers
  ) {
    failures.add(1);
    return;
  }
  answers.add(1);
  if (plan.loop === "closed") {
    latency.add(timings.duration);
    return;
  }
  // Where requests were dropped before this one it was due later than its number says: then this is too much, never too
  // little. The clock is one of whole milliseconds.
  const lateMs = Math.max(0, beganMs - (iterationInTest * 1000) / plan.rate);
  late.add(lateMs);
  // From when it was due, or a client that cannot keep up would hide what is slow (coordinated omission).
  latency.add(timings.duration + Math.max(0, lateMs - 1));
}

interface Summary {
  readonly metrics: Readonly<Record<string, { readonly values: Readonly<Record<string, number>> } | undefined>>;
}

export function handleSummary({ metrics }: Summary): Record<string, string> {
  const count = (metric: string): number => metrics[metric]?.values["count"] ?? 0;
  const quantile = (metric: string, which: string): number | null => metrics[metric]?.values[which] ?? null;
  const counts: LoadCounts = {
    answers: count("h3_answers"),
    failures: count("h3_failures"),
    latencyMedianMs: quantile("h3_latency", "med"),
    latencyP90Ms: quantile("h3_latency", "p(90)"),
    latencyP99Ms: quantile("h3_latency", "p(99)"),
    lateP99Ms: plan.loop === "open" ? quantile("h3_late", "p(99)") : null,
    dropped: count("dropped_iterations"),
  };
  return { stdout: `${JSON.stringify(counts)}\n` };
}
