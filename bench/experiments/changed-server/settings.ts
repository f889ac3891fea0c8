import { type Network, QUEUE_BYTES } from "../../model/cell.ts";
import type { Congestion } from "../../model/congestion.ts";
import { float, optionalFloat, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";
import type { Arm } from "../../../policy-api/reports/page-outcome.ts";

const RATE_MBPS = 50;

function network(rttMs: number, lossRatio: number): Network {
  const name = `${rttMs} ms, ${100 * lossRatio} % lost`;
  return { name, rateMbps: RATE_MBPS, delayMs: rttMs / 2, lossRatio, queueBytes: QUEUE_BYTES };
}

/** Where the visitors are, as many on each. */
export const NETWORKS: readonly Network[] = [
  network(20, 0.01),
  network(60, 0.005),
  network(120, 0),
  network(120, 0.01),
];
/** Side by side on each network. */
export const LANES_EACH = 4;
const QUICK_LANES_EACH = 1;

export function lanesOf(quick: boolean): number {
  return NETWORKS.length * (quick ? QUICK_LANES_EACH : LANES_EACH);
}

/** Of each lane in a round: a round is a day. */
export function visitsOf(quick: boolean): number {
  return quick ? 1 : 15;
}

/** Of a visit. The first page's answer acts on the others. */
export const PAGES = 3;
export const PAUSE_MS = 1_500;
export const FILES = 10;
export const FILE_BYTES = 20_000;

/** Whose pages are decided by the draw, half of them offered: the others follow the policy. */
export const EXPLORED = 0.6;

/**
 * What happens, in rounds of a day. `before`: the server's TCP has cubic, and so does the policy's table. `after`: it has BBR.
 * `harmful`: a person has put a policy in force that offers HTTP/3 to everyone.
 */
export const PARTS = ["before", "after", "harmful"] as const;
export type Part = (typeof PARTS)[number];

export const CONGESTION: Readonly<Record<Part, Congestion>> = { before: "cubic", after: "bbr", harmful: "bbr" };

/** At most so many rounds; `settled` ends a part sooner. */
export const ROUNDS: Readonly<Record<Part, number>> = { before: 2, after: 12, harmful: 3 };
export const QUICK_ROUNDS: Readonly<Record<Part, number>> = { before: 1, after: 1, harmful: 1 };

/** A visit, or what was done and said. */
export const CHANGED_ROW = {
  id: string(),
  /** `visit`; `autopilot`, what a step of it said; `audit`, an entry of the API's own. */
  kind: string<"visit" | "autopilot" | "audit">(),
  part: string<Part>(),
  /** From 0. */
  round: float,
  /** Of the workers' clock, since the run began. */
  day: float,
  network: string(),
  startedMs: float,
  outcome: string<"ok" | "failed" | "timeout">(),
  error: string(),
  /** Of the visit's first page: who chose the answer, and which policy. */
  arm: string<Arm | "">(),
  version: optionalFloat,
  /** Of each page, with ";" between them. */
  pagesMs: string(),
  /** Of each page's files, how many came over HTTP/3. */
  filesH3: string(),
  /** Pages whose report the worker took. */
  reports: optionalFloat,
  lateRatio: optionalFloat,
  busyRatio: optionalFloat,
  said: string(),
} as const satisfies RowSchema;

export type ChangedRow = RowOf<typeof CHANGED_ROW>;
