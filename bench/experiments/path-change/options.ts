import { parseArgs } from "node:util";
import { UserError } from "../../../base/user-error.ts";
import { MEASURED_CONGESTIONS, type Scenario, SCENARIOS } from "./scenarios.ts";

type MeasuredCongestion = (typeof MEASURED_CONGESTIONS)[number];

export interface PathChangeOptions {
  readonly scenarios: readonly Scenario[];
  readonly congestions: readonly MeasuredCongestion[];
  readonly clients: number;
  readonly seed: number;
  readonly out: string | undefined;
  /** Measure nothing: make the report of the rows that are there again. */
  readonly report: boolean;
}

const SCENARIO_NAMES = SCENARIOS.map(({ name }) => name);
const CLIENTS = 5;
const SEED = 1;

const OPTIONS_TEXT = `  --scenarios NAMES    some only, with commas: ${SCENARIO_NAMES.join(", ")}
  --congestion NAMES   of the server's TCP, with commas: ${MEASURED_CONGESTIONS.join(", ")}
  --clients N          of each scenario and congestion control, one after the other (${CLIENTS})
  --seed N             what losses are drawn from (${SEED})
  --quick              one client of the first scenario and congestion control: whether it works
  --out FOLDER         where rows and report go (.adaptive-h3/bench/path-change)
  --report             measures nothing: makes the report of the rows there again`;

/** @throws UserError naming the option and what is allowed */
export function readPathChangeOptions(args: readonly string[]): PathChangeOptions {
  const { scenarios, congestion, clients, seed, quick, out, report } = parse(args);
  const named = names("--scenarios", scenarios, SCENARIO_NAMES);
  const congestions = names("--congestion", congestion, MEASURED_CONGESTIONS);
  const chosen = SCENARIOS.filter(({ name }) => named.includes(name));
  return {
    scenarios: quick ? chosen.slice(0, 1) : chosen,
    congestions: quick ? congestions.slice(0, 1) : congestions,
    clients: quick ? 1 : whole("--clients", clients, 1, 100),
    seed: whole("--seed", seed, 0, 2 ** 31 - 1),
    out,
    report,
  };
}

function names<T extends string>(option: string, text: string | undefined, known: readonly T[]): readonly T[] {
  if (text === undefined) return known;
  const asked = text.split(",");
  const unknown = asked.find((name) => !known.some((one) => one === name));
  if (unknown !== undefined) throw new UserError(`${option} must be of ${known.join(", ")}, not ${unknown}.`);
  return known.filter((one) => asked.includes(one));
}

function whole(option: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new UserError(`${option} must be a whole number from ${min} to ${max}, not ${text}.`);
  return value;
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        scenarios: { type: "string" },
        congestion: { type: "string" },
        clients: { type: "string", default: `${CLIENTS}` },
        seed: { type: "string", default: `${SEED}` },
        quick: { type: "boolean", default: false },
        out: { type: "string" },
        report: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new UserError(`${(error as Error).message}\nKnown options:\n${OPTIONS_TEXT}`);
  }
}
