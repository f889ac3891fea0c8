import type { Experiment, ExperimentOptions } from "./experiment.ts";
import { bandwidthLimits } from "./bandwidth-limits.ts";
import { calibration } from "./calibration.ts";
import { latencySweep } from "./latency-sweep.ts";
import { ohashiEvaluation } from "./ohashi-evaluation.ts";
import { ohashiGrid } from "./ohashi-grid.ts";
import { smoke } from "./smoke.ts";
import { stacks } from "./stacks.ts";
import { tcpCongestion } from "./tcp-congestion.ts";

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
