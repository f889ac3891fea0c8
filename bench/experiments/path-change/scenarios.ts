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

function network(name: string, rateMbps: number, delayMs: number, lossRatio: number): Network {
  return { name, rateMbps, delayMs, lossRatio, queueBytes: QUEUE_BYTES };
}

/** One thing changes in each: what tells of it is another reading of the estimator. */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: "loss",
    about: "loss 0 to 3 % at 100 Mbit/s and 5 ms of RTT",
    a: network("loss-a", 100, 2.5, 0),
    b: network("loss-b", 100, 2.5, 0.03),
    imageBytes: 1_000_000,
  },
  {
    name: "rtt",
    about: "RTT 5 to 80 ms at 100 Mbit/s and 1 % of loss",
    a: network("rtt-a", 100, 2.5, 0.01),
    b: network("rtt-b", 100, 40, 0.01),
    imageBytes: 1_000_000,
  },
  {
    name: "near",
    about: "RTT 0 to 80 ms at 20 Mbit/s and 1 % of loss, where with cubic the answer changes",
    a: network("near-a", 20, 0, 0.01),
    b: network("near-b", 20, 40, 0.01),
    imageBytes: 1_000_000,
  },
  {
    name: "rate",
    about: "rate 20 to 400 Mbit/s at 20 ms of RTT, without loss",
    a: network("rate-a", 20, 10, 0),
    b: network("rate-b", 400, 10, 0),
    imageBytes: 10_000_000,
  },
];

/** The stretches of a client's visit, in order: the path before, after, and back again. */
export const STRETCHES = ["A1", "B", "A2"] as const;
/** A client of its own that knows no path but B: what it settles on is B's answer, whether or not others come to it. */
export const CONTROL = "B0";
export type Stretch = (typeof STRETCHES)[number] | typeof CONTROL;

export const NAVIGATIONS: Readonly<Record<Stretch, number>> = { A1: 4, B: 6, A2: 6, B0: 4 };

export const ALL_STRETCHES: readonly Stretch[] = [...STRETCHES, CONTROL];

/** The path of a stretch. */
export function networkOf({ a, b }: Scenario, stretch: Stretch): Network {
  return stretch === "B" || stretch === CONTROL ? b : a;
}

/** Between two navigations: long enough for the edge's closing sample to be with the worker, short for a person. */
export const APART_MS = 1_200;
export const TIMEOUT_MS = 60_000;

/** From the third navigation after a change on, the answer is the one for the path as it is. */
export const FOLLOW_WITHIN = 2;

export const MEASURED_CONGESTIONS = ["cubic", "bbr"] as const satisfies readonly Congestion[];
