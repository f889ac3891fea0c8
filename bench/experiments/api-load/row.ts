import { number, optionalNumber, type RowOf, type RowSchema, text } from "../../model/row-schema.ts";
import type { Loop } from "../../model/request-plan.ts";
import type { Caller } from "./mix.ts";
import type { Subject } from "./subjects.ts";

/** One subject under one load for some seconds, or one kind of caller in the same seconds. CPU times are per answer. */
export const API_LOAD_ROW = {
  id: text(),
  loop: text<Loop>(),
  subject: text<Subject | `${Caller} beside ${Subject}`>(),
  round: number,
  startedMs: number,
  clients: number,
  /** Requests per second that were due; null in a closed loop. */
  rate: optionalNumber,
  answers: number,
  /** Answered otherwise than they should be, or not at all. */
  failures: number,
  dropped: number,
  requestsPerSecond: number,
  latencyMedianMs: optionalNumber,
  latencyP90Ms: optionalNumber,
  latencyP99Ms: optionalNumber,
  lateP99Ms: optionalNumber,
  frontCpuUs: optionalNumber,
  workerdCpuUs: optionalNumber,
  originCpuUs: optionalNumber,
  clientCpuUs: optionalNumber,
  foreignRatio: optionalNumber,
} as const satisfies RowSchema;

export type ApiLoadRow = RowOf<typeof API_LOAD_ROW>;
