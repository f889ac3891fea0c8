import type { Loop } from "../../model/request-plan.ts";
import { float, optionalFloat, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";

/** One subject under one load for some seconds. CPU times are per answer. An experiment adds what names its subjects. */
export const LOOPBACK_COLUMNS = {
  id: string(),
  loop: string<Loop>(),
  round: float,
  startedMs: float,
  clients: float,
  /** Requests per second that were due; null in a closed loop. */
  rate: optionalFloat,
  answers: float,
  /** Answered otherwise than they should be, or not at all. */
  failures: float,
  /** Of an open loop: due when every client still waited for an answer. */
  dropped: float,
  requestsPerSecond: float,
  latencyMedianMs: optionalFloat,
  latencyP90Ms: optionalFloat,
  latencyP99Ms: optionalFloat,
  lateP99Ms: optionalFloat,
  /** Of the edge, or of nginx's processes. */
  frontCpuUs: optionalFloat,
  /** Of workerd; null in arms without. */
  workerdCpuUs: optionalFloat,
  originCpuUs: optionalFloat,
  clientCpuUs: optionalFloat,
  /** Of the machine's cores, what programs used that are no part of this. */
  foreignRatio: optionalFloat,
} as const satisfies RowSchema;

export type LoopbackColumns = typeof LOOPBACK_COLUMNS;
export type LoopbackRow = RowOf<LoopbackColumns>;
