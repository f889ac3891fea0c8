import { parseArgs } from "node:util";
import { UserError } from "../../base/user-error.ts";

export interface OverheadOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly seed: number;
  readonly out: string | undefined;
  readonly fresh: boolean;
}

/** What holds where an experiment is told nothing. */
export interface LoadDefaults {
  readonly experiment: string;
  readonly seconds: number;
  readonly quickSeconds: number;
}

const OVERHEAD: LoadDefaults = { experiment: "overhead", seconds: 2, quickSeconds: 0.5 };

function optionsText({ experiment, seconds, quickSeconds }: LoadDefaults): string {
  return `  --rounds N     how often each load is measured (9)
  --seconds S    how long each time (${seconds})
  --seed N       what orders and resamples are drawn from (1)
  --quick        2 rounds of ${quickSeconds} s: whether it works
  --out FOLDER   where rows and report go (.adaptive-h3/bench/${experiment})
  --fresh        begin anew where the folder holds a run`;
}

/** Reads the options behind the experiment's name. @throws UserError naming the option and what is allowed */
export function readOverheadOptions(args: readonly string[], defaults: LoadDefaults = OVERHEAD): OverheadOptions {
  const values = parse(args, defaults);
  const rounds = values.rounds ?? (values.quick ? "2" : "9");
  const seconds = values.seconds ?? String(values.quick ? defaults.quickSeconds : defaults.seconds);
  return {
    rounds: number("--rounds", rounds, /^\d+$/, 1, 1_000),
    seconds: number("--seconds", seconds, /^\d+(\.\d+)?$/, 0.1, 600),
    seed: number("--seed", values.seed, /^\d+$/, 0, 2 ** 31 - 1),
    out: values.out,
    fresh: values.fresh,
  };
}

function parse(args: readonly string[], defaults: LoadDefaults) {
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
    throw new UserError(`${(error as Error).message}\nKnown options:\n${optionsText(defaults)}`);
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
