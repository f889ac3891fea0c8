import { float, optionalFloat, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";
import type { Loop } from "../../model/request-plan.ts";
import type { Caller } from "./mix.ts";
import type { Subject } from "./subjects.ts";

/** One subject under one load for some seconds, or one kind of caller in the same seconds. CPU times are per answer. */
export const API_LOAD_ROW = {
  id: string(),
  loop: string<Loop>(),
  subject: string<Subject | `${Caller} beside ${Subject}`>(),
  round: float,
  startedMs: float,
  clients: float,
  /** Requests per second that were due; null in a closed loop. */
  rate: optionalFloat,
  answers: float,
  /** Answered otherwise than they should be, or not at all. */
  failures: float,
  dropped: float,
  requestsPerSecond: float,
  latencyMedianMs: optionalFloat,
  latencyP90Ms: optionalFloat,
  latencyP99Ms: optionalFloat,
  lateP99Ms: optionalFloat,
  frontCpuUs: optionalFloat,
  workerdCpuUs: optionalFloat,
  originCpuUs: optionalFloat,
  clientCpuUs: optionalFloat,
  foreignRatio: optionalFloat,
} as const satisfies RowSchema;

export type ApiLoadRow = RowOf<typeof API_LOAD_ROW>;
