import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../base/root.ts";

/** Paths as a caller that measures loss sends them, each another: known ones, for which times are predicted. */
export function pathFacts(count: number): object[] {
  return Array.from({ length: count }, (_, i) => ({
    transport: i % 4 === 3 ? "quic" : "tcp",
    rttMs: 5 + ((i * 37) % 200),
    lossRatio: ((i * 7) % 50) / 1000,
    packets: 5_000,
    deliveryRateBps: 1_000_000 * (1 + (i % 25)),
    path: "/",
  }));
}

/** A policy of the size that calibration makes (41 kB), another each time. */
export function policyToPush(source: string): object {
  pushed ??= JSON.parse(readFileSync(join(ROOT, "policy-api/policies/cubic.json"), "utf8")) as object;
  return { ...pushed, source };
}
let pushed: object | undefined;
