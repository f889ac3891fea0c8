import type { Loop } from "../../model/request-plan.ts";
import type { Columns } from "../../model/columns.ts";
import type { Caller } from "./mix.ts";
import type { Subject } from "./subjects.ts";

/** One subject under one load for some seconds, or one kind of caller in the same seconds. CPU times are per answer. */
export interface ApiLoadRow {
  readonly id: string;
  readonly loop: Loop;
  readonly subject: Subject | `${Caller} beside ${Subject}`;
  readonly round: number;
  readonly startedMs: number;
  readonly clients: number;
  /** Requests per second that were due; null in a closed loop. */
  readonly rate: number | null;
  readonly answers: number;
  /** Answered otherwise than they should be, or not at all. */
  readonly failures: number;
  readonly dropped: number;
  readonly requestsPerSecond: number;
  readonly latencyMedianMs: number | null;
  readonly latencyP90Ms: number | null;
  readonly latencyP99Ms: number | null;
  readonly lateP99Ms: number | null;
  readonly frontCpuUs: number | null;
  readonly workerdCpuUs: number | null;
  readonly originCpuUs: number | null;
  readonly clientCpuUs: number | null;
  readonly foreignRatio: number | null;
}

export const API_LOAD_COLUMNS: Columns<ApiLoadRow> = {
  id: "text",
  loop: "text",
  subject: "text",
  round: "number",
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
