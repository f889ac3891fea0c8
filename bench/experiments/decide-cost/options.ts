import { parseArgs } from "node:util";
import { UserError } from "../../../base/user-error.ts";

export interface DecideCostOptions {
  readonly rounds: number;
  readonly out: string | undefined;
}

const OPTIONS_TEXT = `  --rounds N     how often each is timed (41)
  --out FOLDER   where the report goes (.adaptive-h3/bench/decide-cost)`;

/** @throws UserError naming the option and what is allowed */
export function readDecideCostOptions(args: readonly string[]): DecideCostOptions {
  const { rounds, out } = parse(args);
  if (!/^\d{1,4}$/.test(rounds) || Number(rounds) < 1)
    throw new UserError(`--rounds must be a whole number from 1 to 9999, not ${rounds}.`);
  return { rounds: Number(rounds), out };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: { rounds: { type: "string", default: "41" }, out: { type: "string" } },
    }).values;
  } catch (error) {
    throw new UserError(`${(error as Error).message}\nKnown options:\n${OPTIONS_TEXT}`);
  }
}
