import { parseArgs } from "node:util";
import { UserError } from "../../base/user-error.ts";
import { FAULT_NAMES, type FaultName } from "./names.ts";

export interface Options {
  /** How many requests the whole run sends at least. */
  readonly requests: number;
  readonly faults: readonly FaultName[];
  readonly seed: number;
  /** If set, there are no faults: visitors come for so many minutes, and what the programs hold is read. */
  readonly soakMinutes?: number;
  /** Send so many hostile inputs, and inject no fault. */
  readonly hostile?: number;
  /** The index of the first hostile input. */
  readonly from: number;
  readonly help: boolean;
}

export const USAGE = `npm run test:faults -- [--requests N] [--faults NAME,NAME] [--seed N]
npm run test:faults -- --soak MINUTES [--seed N]
npm run test:faults -- --hostile N [--seed N] [--from N]

  --requests N   how many requests to send, 1000 to 10000000 (default 30000, 2 to 3 minutes)
  --faults LIST  which faults to inject, with commas between (default: all)
  --seed N       a whole number that the order and the sizes of the requests depend on, and the hostile inputs (default 1)
  --soak M       instead of faults, visitors from 5,000 addresses for 1 to 1440 minutes, and what the programs hold by then
  --hostile N    instead of faults, send so many hostile inputs to the edge and to the API, 1 to 10000000
  --from N       the index of the first hostile input (default 0): to send again what a finding names

The faults: ${FAULT_NAMES.join(", ")}.`;

/** Reads the command line. @throws UserError that names the option */
export function readOptions(argv: readonly string[]): Options {
  const { tokens } = parseArgs({
    args: [...argv],
    options: {
      requests: { type: "string" },
      faults: { type: "string" },
      seed: { type: "string" },
      soak: { type: "string" },
      hostile: { type: "string" },
      from: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given = new Map<string, string>();
  for (const token of tokens) {
    if (token.kind === "positional") throw new UserError(`"${token.value}" is no option.\n\n${USAGE}`);
    if (token.kind !== "option") continue;
    if (!["requests", "faults", "seed", "soak", "hostile", "from", "help"].includes(token.name))
      throw new UserError(`There is no option ${token.rawName}.\n\n${USAGE}`);
    if (given.has(token.name)) throw new UserError(`${token.rawName} is there twice.`);
    if (token.name !== "help" && (token.value === undefined || token.value === ""))
      throw new UserError(`${token.rawName} needs a value.`);
    given.set(token.name, token.value ?? "");
  }
  if (given.has("from") && !given.has("hostile")) throw new UserError("--from does not go without --hostile.");
  for (const instead of ["soak", "hostile"])
    for (const name of ["requests", "faults", ...(instead === "soak" ? ["hostile"] : [])])
      if (given.has(instead) && given.has(name)) throw new UserError(`--${name} does not go with --${instead}.`);
  const [soak, hostile] = [given.get("soak"), given.get("hostile")];
  return {
    ...(soak === undefined ? {} : { soakMinutes: readWhole("--soak", soak, 1, 1_440) }),
    ...(hostile === undefined ? {} : { hostile: readWhole("--hostile", hostile, 1, 10_000_000) }),
    from: readWhole("--from", given.get("from") ?? "0", 0, 4_294_967_295),
    requests: readWhole("--requests", given.get("requests") ?? "30000", 1_000, 10_000_000),
    faults: soak === undefined && hostile === undefined ? readFaults(given.get("faults")) : [],
    seed: readWhole("--seed", given.get("seed") ?? "1", 0, 4_294_967_295),
    help: given.has("help"),
  };
}

function readWhole(name: string, text: string, from: number, to: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : -1;
  if (value < from || value > to)
    throw new UserError(`${name} must be a whole number from ${from} to ${to}: "${text}".`);
  return value;
}

function readFaults(text: string | undefined): readonly FaultName[] {
  if (text === undefined) return FAULT_NAMES;
  const names = text.split(",").map((name) => {
    const known = FAULT_NAMES.find((fault) => fault === name);
    if (known === undefined)
      throw new UserError(`--faults: there is no fault "${name}". There are ${FAULT_NAMES.join(", ")}.`);
    return known;
  });
  if (new Set(names).size < names.length) throw new UserError(`--faults: a name is there twice.`);
  return names;
}
