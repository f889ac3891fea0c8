import { parseArgs } from "node:util";
import { UserError } from "../../base/user-error.ts";
import { FAULT_NAMES, type FaultName } from "./names.ts";

export interface Options {
  /** How many requests the whole run sends at least. */
  readonly requests: number;
  readonly faults: readonly FaultName[];
  readonly seed: number;
  readonly help: boolean;
}

export const USAGE = `npm run test:faults -- [--requests N] [--faults NAME,NAME] [--seed N]

  --requests N   how many requests to send, 1000 to 10000000 (default 30000, 2 to 3 minutes)
  --faults LIST  which faults to inject, with commas between (default: all)
  --seed N       a whole number that the order and the sizes of the requests depend on (default 1)

The faults: ${FAULT_NAMES.join(", ")}.`;

/** Reads the command line. @throws UserError that names the option */
export function readOptions(argv: readonly string[]): Options {
  const { requests, faults, seed, help } = valuesOf(argv);
  return {
    requests: readWhole("--requests", requests, 1_000, 10_000_000),
    faults: readFaults(faults),
    seed: readWhole("--seed", seed, 0, 4_294_967_295),
    help,
  };
}

function valuesOf(argv: readonly string[]) {
  const text = (value: string) => ({ type: "string", default: value }) as const;
  try {
    return parseArgs({
      args: [...argv],
      options: {
        requests: text("30000"),
        faults: text(FAULT_NAMES.join(",")),
        seed: text("1"),
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    throw new UserError(`${(error as Error).message}\n\n${USAGE}`);
  }
}

function readWhole(name: string, text: string, from: number, to: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : -1;
  if (value < from || value > to)
    throw new UserError(`${name} must be a whole number from ${from} to ${to}: "${text}".`);
  return value;
}

function readFaults(text: string): readonly FaultName[] {
  const names = text.split(",").map((name) => {
    const known = FAULT_NAMES.find((fault) => fault === name);
    if (known === undefined)
      throw new UserError(`--faults: there is no fault "${name}". There are ${FAULT_NAMES.join(", ")}.`);
    return known;
  });
  if (new Set(names).size < names.length) throw new UserError(`--faults: a name is there twice.`);
  return names;
}
