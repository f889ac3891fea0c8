import type { Experiment, ExperimentOptions } from "../model/experiment.ts";
import { bandwidthLimits } from "./bandwidth-limits/experiment.ts";
import { calibration } from "./calibration/experiment.ts";
import { latencySweep } from "./latency-sweep/experiment.ts";
import { ohashiEvaluation } from "./ohashi-evaluation/experiment.ts";
import { ohashiGrid } from "./ohashi-grid/experiment.ts";
import { smoke } from "./smoke/experiment.ts";
import { stacks } from "./stacks/experiment.ts";
import { tcpCongestion } from "./tcp-congestion/experiment.ts";

/** Experiments that are made of loads over emulated networks, by name. */
export const EXPERIMENTS: Readonly<Record<string, (options: ExperimentOptions) => Experiment>> = {
  smoke,
  calibration,
  "ohashi-evaluation": ohashiEvaluation,
  "ohashi-grid": ohashiGrid,
  "latency-sweep": latencySweep,
  "bandwidth-limits": bandwidthLimits,
  "tcp-congestion": tcpCongestion,
  stacks,
};
