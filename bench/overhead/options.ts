import { parseArgs } from "node:util";
import { UserError } from "../../infra/setup/programs.ts";

export interface OverheadOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly seed: number;
  readonly out: string | undefined;
  readonly fresh: boolean;
}

export const OVERHEAD_OPTIONS_TEXT = `  --rounds N     how often each arm is measured in each way (9)
  --seconds S    how long each time (2)
  --seed N       what orders and resamples are drawn from (1)
  --quick        2 rounds of half a second: whether it works
  --out FOLDER   where rows and report go (.adaptive-h3/bench/overhead)
  --fresh        begin anew where the folder holds a run`;

/** Reads the options behind the experiment's name. @throws UserError naming the option and what is allowed */
export function readOverheadOptions(args: readonly string[]): OverheadOptions {
  const values = parse(args);
  const rounds = values.rounds ?? (values.quick ? "2" : "9");
  const seconds = values.seconds ?? (values.quick ? "0.5" : "2");
  return {
    rounds: number("--rounds", rounds, /^\d+$/, 1, 1_000),
    seconds: number("--seconds", seconds, /^\d+(\.\d+)?$/, 0.1, 600),
    seed: number("--seed", values.seed, /^\d+$/, 0, 2 ** 31 - 1),
    out: values.out,
    fresh: values.fresh,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        rounds: { type: "string" },
        seconds: { type: "string" },
        seed: { type: "string", default: "1" },
        quick: { type: "boolean", default: false },
        out: { type: "string" },
        fresh: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new UserError(`${(error as Error).message}\nKnown options:\n${OVERHEAD_OPTIONS_TEXT}`);
  }
}

function number(option: string, text: string, form: RegExp, min: number, max: number): number {
  const value = Number(text);
  if (!form.test(text) || value < min || value > max)
    throw new UserError(
      `${option} must be a ${form.source.includes(".") ? "" : "whole "}number from ${min} to ${max}, not ${text}.`,
    );
  return value;
}
