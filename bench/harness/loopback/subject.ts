import type { LoopbackArm } from "../../lab/loopback-arms.ts";
import type { ArmProcesses } from "../../lab/loopback-system.ts";
import type { LoadPlan, Loop } from "../../model/request-plan.ts";
import type { LoopbackRow } from "./row.ts";

/** What is measured: one request that clients send again and again to one arm. */
export interface Subject {
  /** As ids have it: `pages`, `small/bare`. */
  readonly name: string;
  /** As tables call it. */
  readonly title: string;
  /** Subjects of one group are measured one after another, in an open loop at one rate: so they can be compared. */
  readonly group: string;
  /** What its ratios are to, in the same round; itself unless given. */
  readonly beside?: string;
  /** What the ratio of workerd's CPU time is to, where that is another subject. */
  readonly workerdBeside?: string;
  /** The subject that does the next less: what this one adds to it is reported too. */
  readonly addsTo?: string;
  /** What its rows have in the columns that only this experiment has. */
  readonly columns: Readonly<Record<string, string>>;
  readonly arm: LoopbackArm;
  readonly loops: readonly Loop[];
  /** Connections, each a client. */
  readonly clients: Readonly<Record<Loop, number>>;
  readonly request: Pick<LoadPlan, "headers" | "body" | "offers" | "bodyBytes"> & { readonly path: string };
  /** Who else sends requests in the same seconds. */
  readonly company?: Company;
}

export interface Company {
  /** Its kinds; a row is named after one and the subject (`read beside pages`). */
  readonly members: readonly { readonly name: string; readonly title: string }[];
  start(arm: ArmProcesses): Promise<RunningCompany>;
}

export interface RunningCompany {
  readonly pid: number;
  /** Ends it. What it returns makes its rows of the seconds that count. */
  stop(): Promise<(counted: CountedSeconds) => readonly LoopbackRow[]>;
}

export interface CountedSeconds {
  readonly subject: string;
  readonly round: number;
  readonly startedMs: number;
  /** When the seconds began that count, milliseconds since the epoch. */
  readonly beganMs: number;
  readonly seconds: number;
}
