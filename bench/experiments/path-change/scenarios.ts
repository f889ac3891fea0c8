import { type Network, QUEUE_BYTES } from "../../model/cell.ts";
import type { Congestion } from "../../model/congestion.ts";

/** A path that becomes another one and comes back. */
export interface Scenario {
  readonly name: "loss" | "rtt" | "near" | "rate";
  readonly about: string;
  readonly a: Network;
  readonly b: Network;
  readonly imageBytes: number;
}

type Path = readonly [rateMbps: number, delayMs: number, lossRatio: number];

function scenario(name: Scenario["name"], about: string, a: Path, b: Path, imageBytes = 1_000_000): Scenario {
  const network = (end: string, [rateMbps, delayMs, lossRatio]: Path): Network => ({
    name: `${name}-${end}`,
    rateMbps,
    delayMs,
    lossRatio,
    queueBytes: QUEUE_BYTES,
  });
  return { name, about, a: network("a", a), b: network("b", b), imageBytes };
}

const NEAR = "RTT 0 to 80 ms at 20 Mbit/s and 1 % of loss, where with cubic the answer changes";

/** One thing changes in each: what tells of it is another reading of the estimator. */
export const SCENARIOS: readonly Scenario[] = [
  scenario("loss", "loss 0 to 3 % at 100 Mbit/s and 5 ms of RTT", [100, 2.5, 0], [100, 2.5, 0.03]),
  scenario("rtt", "RTT 5 to 80 ms at 100 Mbit/s and 1 % of loss", [100, 2.5, 0.01], [100, 40, 0.01]),
  scenario("near", NEAR, [20, 0, 0.01], [20, 40, 0.01]),
  scenario("rate", "rate 20 to 400 Mbit/s at 20 ms of RTT, without loss", [20, 10, 0], [400, 10, 0], 10_000_000),
];

const MEASURED_CONGESTIONS = ["cubic", "bbr"] as const satisfies readonly Congestion[];

export type Chosen = ReturnType<typeof chosen>;

/** What is measured. */
export function chosen({ clients, quick }: { readonly clients: number; readonly quick: boolean }) {
  return quick
    ? { scenarios: SCENARIOS.slice(0, 1), congestions: MEASURED_CONGESTIONS.slice(0, 1), clients: 1 }
    : { scenarios: SCENARIOS, congestions: MEASURED_CONGESTIONS, clients };
}

/**
 * The stretches of a scenario, and how many navigations each has: of a client on the path before, after, and back again; and of
 * one of its own that knows no path but B: what that one settles on is B's answer, whether or not others come to it.
 */
export const NAVIGATIONS = { A1: 4, B: 6, A2: 6, B0: 4 } as const;
export type Stretch = keyof typeof NAVIGATIONS;
export const STRETCHES = Object.keys(NAVIGATIONS) as Stretch[];

export function isOnB(stretch: Stretch): boolean {
  return stretch === "B" || stretch === "B0";
}

/** Between two navigations: long enough for the edge's closing sample to be with the worker, short for a person. */
export const APART_MS = 1_200;
export const TIMEOUT_MS = 60_000;

/** From the third navigation after a change on, the answer is the one for the path as it is. */
export const FOLLOW_WITHIN = 2;
