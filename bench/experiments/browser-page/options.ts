import { parseArgs } from "node:util";
import { UserError } from "../../../base/user-error.ts";

export interface BrowserPageOptions {
  readonly size: "quick" | "usual" | "full";
  readonly seed: number;
  readonly out: string | undefined;
  readonly fresh: boolean;
}

const SEED = 1;

const OPTIONS_TEXT = `  --quick              two visits of each: whether it works
  --full               as many visits as published, 50, also where the usual run has fewer
  --seed N             what order, losses and resamples are drawn from (${SEED})
  --out FOLDER         where rows and report go (.adaptive-h3/bench/browser-page); the same command goes on there
  --fresh              begin anew where the folder holds a run`;

/** @throws UserError naming the option and what is allowed */
export function readBrowserPageOptions(args: readonly string[]): BrowserPageOptions {
  const { quick, full, seed, out, fresh } = parse(args);
  if (quick && full) throw new UserError("--quick and --full exclude each other.");
  if (!/^\d+$/.test(seed) || Number(seed) > 2 ** 31 - 1)
    throw new UserError(`--seed must be a whole number from 0 to ${2 ** 31 - 1}, not ${seed}.`);
  return { size: quick ? "quick" : full ? "full" : "usual", seed: Number(seed), out, fresh };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        quick: { type: "boolean", default: false },
        full: { type: "boolean", default: false },
        seed: { type: "string", default: `${SEED}` },
        out: { type: "string" },
        fresh: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new UserError(`${(error as Error).message}\nKnown options:\n${OPTIONS_TEXT}`);
  }
}
