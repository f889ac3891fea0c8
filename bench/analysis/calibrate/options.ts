import { oneOf, readOptions, words } from "../../model/options.ts";
import { type Mix, MIX_NAMES, MIXES } from "./mixes.ts";

export interface CalibrateOptions {
  /** Run folders whose rows are read. */
  readonly from: readonly string[];
  /** Where <congestion control>.json goes. */
  readonly policies: string;
  /** Where the report goes. */
  readonly out: string;
  readonly mix: Mix;
}

const OPTIONS = {
  from: words(
    "FOLDERS",
    "runs of `calibration`, several with commas (bench/results/calibration)",
    "bench/results/calibration",
  ),
  mix: oneOf(
    "NAME",
    `networks that an unknown client is taken from: ${MIX_NAMES.join(", ")} (mostly-clean)`,
    MIX_NAMES,
    "mostly-clean",
  ),
  policies: words(
    "FOLDER",
    "where the policies go, one file for each congestion control (.adaptive-h3/policies)",
    ".adaptive-h3/policies",
  ),
  out: words(
    "FOLDER",
    "where the report and the pictures go (.adaptive-h3/bench/calibrate)",
    ".adaptive-h3/bench/calibrate",
  ),
};

/** @throws UserError naming the option and what is allowed */
export function readCalibrateOptions(args: readonly string[]): CalibrateOptions {
  const { from, mix, policies, out } = readOptions(args, OPTIONS);
  return { from: from.split(",").filter((folder) => folder !== ""), mix: MIXES[mix], policies, out };
}
