import type { Quic } from "../../model/arm.ts";
import type { Experiment } from "../../model/experiment.ts";
import type { KnownFidelity } from "../known-fidelity.ts";
import type { LoadRow } from "../../model/load-row.ts";
import type { Start } from "../../model/recorded-run.ts";
import type { WindowPoint } from "./windows.ts";

/** What a report is made from: all of it is in the run's folder. */
export interface ReportInput {
  readonly experiment: Experiment;
  readonly rows: readonly LoadRow[];
  /** Of the loads that were traced: congestion windows over time. */
  readonly windows: readonly WindowPoint[];
  /** Every start of the run, with the machine and the versions of then; the last first-hand. */
  readonly starts: readonly Start[];
  readonly command: string;
  readonly seed: number;
  /** Who served HTTP/3, where an arm has no server of its own. */
  readonly quic: Quic;
  /** Up to which rate the emulated path is known to be what it is asked to be, here. */
  readonly fidelity: KnownFidelity | undefined;
}

export interface Report {
  /** For summary.json: every figure that the text and the pictures show. */
  readonly summary: object;
  /** For report.md; it names the pictures by their files. */
  readonly markdown: string;
  readonly pictures: readonly { readonly file: string; readonly svg: string }[];
}
