import type { Quic } from "../../model/arm.ts";
import type { LoadExperiment } from "../../model/load-experiment.ts";
import type { LoadRow } from "../../model/load-row.ts";
import type { Recorded } from "../experiment.ts";
import type { WindowPoint } from "./windows.ts";

/** A complete run of an experiment made of loads: what its summary and its report are made from. */
export interface LoadsRecorded extends Pick<Recorded<unknown, LoadRow>, "name" | "command" | "rows" | "starts"> {
  readonly experiment: LoadExperiment;
  /** Of the loads that were traced: congestion windows over time. */
  readonly windows: readonly WindowPoint[];
  readonly seed: number;
  /** Who served HTTP/3, where an arm has no server of its own. */
  readonly quic: Quic;
}
