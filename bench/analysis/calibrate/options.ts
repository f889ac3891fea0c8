import { parseArgs } from "node:util";
import { UserError } from "../../../base/user-error.ts";
import { type Mix, MIXES } from "./mixes.ts";

export interface CalibrateOptions {
  /** Run folders whose rows are read. */
  readonly from: readonly string[];
  /** Where <congestion control>.json goes. */
  readonly policies: string;
  /** Where the report goes. */
  readonly out: string;
  readonly mix: Mix;
}

const OPTIONS_TEXT = `  --from FOLDERS       runs of \`calibration\`, several with commas (bench/results/calibration)
  --mix NAME           networks that an unknown client is taken from: ${Object.keys(MIXES).join(", ")} (mostly-clean)
  --policies FOLDER    where the policies go, one file for each congestion control (.adaptive-h3/policies)
  --out FOLDER         where the report and the pictures go (.adaptive-h3/bench/calibrate)`;

/** @throws UserError naming the option and what is allowed */
export function readCalibrateOptions(args: readonly string[]): CalibrateOptions {
  const { values } = parse(args);
  if (!Object.hasOwn(MIXES, values.mix))
    throw new UserError(`--mix must be one of ${Object.keys(MIXES).join(", ")}, not ${values.mix}.`);
  return {
    from: values.from.split(",").filter((folder) => folder !== ""),
    policies: values.policies,
    out: values.out,
    mix: MIXES[values.mix as keyof typeof MIXES],
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        from: { type: "string", default: "bench/results/calibration" },
        mix: { type: "string", default: "mostly-clean" },
        policies: { type: "string", default: ".adaptive-h3/policies" },
        out: { type: "string", default: ".adaptive-h3/bench/calibrate" },
      },
    });
  } catch (error) {
    throw new UserError(`${(error as Error).message}\nKnown options:\n${OPTIONS_TEXT}`);
  }
}
