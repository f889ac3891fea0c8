import type { Loop, Size } from "../../model/request-plan.ts";
import type { Columns } from "../../model/columns.ts";
import type { OverheadArm } from "../../lab/loopback-arms.ts";

/** One arm under one load for some seconds. CPU times are per request that was answered. */
export interface OverheadRow {
  readonly id: string;
  readonly loop: Loop;
  readonly size: Size;
  readonly round: number;
  readonly arm: OverheadArm;
  readonly startedMs: number;
  readonly clients: number;
  /** Requests per second that were due; null in a closed loop. */
  readonly rate: number | null;
  readonly answers: number;
  readonly failures: number;
  readonly dropped: number;
  readonly requestsPerSecond: number;
  readonly latencyMedianMs: number | null;
  readonly latencyP90Ms: number | null;
  readonly latencyP99Ms: number | null;
  readonly lateP99Ms: number | null;
  /** Of the edge, or of nginx's processes. */
  readonly frontCpuUs: number;
  /** Of workerd; null in arms without. */
  readonly workerdCpuUs: number | null;
  readonly originCpuUs: number;
  readonly clientCpuUs: number;
  /** Of the machine's cores, what programs used that are no part of this. */
  readonly foreignRatio: number;
}

export const OVERHEAD_COLUMNS: Columns<OverheadRow> = {
  id: "text",
  loop: "text",
  size: "text",
  round: "number",
  arm: "text",
  startedMs: "number",
  clients: "number",
  rate: "number",
  answers: "number",
  failures: "number",
  dropped: "number",
  requestsPerSecond: "number",
  latencyMedianMs: "number",
  latencyP90Ms: "number",
  latencyP99Ms: "number",
  lateP99Ms: "number",
  frontCpuUs: "number",
  workerdCpuUs: "number",
  originCpuUs: "number",
  clientCpuUs: "number",
  foreignRatio: "number",
};
