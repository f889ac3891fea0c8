import { number, optionalNumber, type RowOf, type RowSchema, text } from "../../model/row-schema.ts";
import type { Loop, Size } from "../../model/request-plan.ts";
import type { OverheadArm } from "../../lab/loopback-arms.ts";

/** One arm under one load for some seconds. CPU times are per request that was answered. */
export const OVERHEAD_ROW = {
  id: text(),
  loop: text<Loop>(),
  size: text<Size>(),
  round: number,
  arm: text<OverheadArm>(),
  startedMs: number,
  clients: number,
  /** Requests per second that were due; null in a closed loop. */
  rate: optionalNumber,
  answers: number,
  failures: number,
  dropped: number,
  requestsPerSecond: number,
  latencyMedianMs: optionalNumber,
  latencyP90Ms: optionalNumber,
  latencyP99Ms: optionalNumber,
  lateP99Ms: optionalNumber,
  /** Of the edge, or of nginx's processes. */
  frontCpuUs: number,
  /** Of workerd; null in arms without. */
  workerdCpuUs: optionalNumber,
  originCpuUs: number,
  clientCpuUs: number,
  /** Of the machine's cores, what programs used that are no part of this. */
  foreignRatio: number,
} as const satisfies RowSchema;

export type OverheadRow = RowOf<typeof OVERHEAD_ROW>;
