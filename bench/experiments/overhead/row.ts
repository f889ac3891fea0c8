import { float, optionalFloat, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";
import type { Loop, Size } from "../../model/request-plan.ts";
import type { OverheadArm } from "../../lab/loopback-arms.ts";

/** One arm under one load for some seconds. CPU times are per request that was answered. */
export const OVERHEAD_ROW = {
  id: string(),
  loop: string<Loop>(),
  size: string<Size>(),
  round: float,
  arm: string<OverheadArm>(),
  startedMs: float,
  clients: float,
  /** Requests per second that were due; null in a closed loop. */
  rate: optionalFloat,
  answers: float,
  failures: float,
  dropped: float,
  requestsPerSecond: float,
  latencyMedianMs: optionalFloat,
  latencyP90Ms: optionalFloat,
  latencyP99Ms: optionalFloat,
  lateP99Ms: optionalFloat,
  /** Of the edge, or of nginx's processes. */
  frontCpuUs: float,
  /** Of workerd; null in arms without. */
  workerdCpuUs: optionalFloat,
  originCpuUs: float,
  clientCpuUs: float,
  /** Of the machine's cores, what programs used that are no part of this. */
  foreignRatio: float,
} as const satisfies RowSchema;

export type OverheadRow = RowOf<typeof OVERHEAD_ROW>;
