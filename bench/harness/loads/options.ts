import { parseArgs } from "node:util";
import { UserError } from "../../../base/user-error.ts";
import { type Quic, QUICS } from "../../model/arm.ts";
import type { ExperimentOptions } from "../../model/experiment.ts";
import { type Congestion, CONGESTIONS } from "../../model/congestion.ts";
import { LANES_MAX } from "../../lab/lane.ts";

export interface RunOptions extends ExperimentOptions {
  /** Exactly so many runs of each arm, instead of what the experiment's own allocation asks for. */
  readonly runs: number | undefined;
  readonly seed: number;
  readonly switching: "wait" | "background";
  readonly lanes: number;
  readonly quic: Quic;
  readonly out: string | undefined;
  readonly fresh: boolean;
  readonly retry: boolean;
}

export const OPTIONS_TEXT = `  --runs N             exactly so many runs of each arm, instead of as many as an answer takes
  --seed N             what order, losses and resamples are drawn from (1)
  --congestion NAMES   of the server's TCP: ${CONGESTIONS.join(", ")}; several with commas (cubic,bbr)
  --bytes N            the image's size, instead of the experiment's own
  --switch HOW         wait: for the HTTP/3 connection, as published; background: as browsers do (wait)
  --quic NAME          who serves HTTP/3: ${QUICS.join(", ")} (quic-go)
  --quick              small and few: whether it works
  --full               as published, which may take days
  --lanes N            so many slow networks at a time, 1 to ${LANES_MAX} (4)
  --out FOLDER         where rows and report go (.adaptive-h3/bench/<experiment>)
  --fresh              begin anew where the folder holds a run
  --retry              try again what an earlier start gave up, as the machine was too busy`;

/** Reads the options behind an experiment's name. @throws UserError naming the option and what is allowed */
export function readOptions(args: readonly string[]): RunOptions {
  const values = parse(args);
  if (values.quick && values.full) throw new UserError("--quick and --full exclude each other.");
  return {
    congestions: congestions(values.congestion),
    bytes: values.bytes === undefined ? undefined : whole("--bytes", values.bytes, 1, 1_000_000_000),
    size: values.quick ? "quick" : values.full ? "full" : "usual",
    runs: values.runs === undefined ? undefined : whole("--runs", values.runs, 1, 100_000),
    seed: whole("--seed", values.seed, 0, 2 ** 31 - 1),
    switching: oneOf("--switch", values.switch, ["wait", "background"]),
    quic: oneOf("--quic", values.quic, QUICS),
    lanes: whole("--lanes", values.lanes, 1, LANES_MAX),
    out: values.out,
    fresh: values.fresh,
    retry: values.retry,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        runs: { type: "string" },
        seed: { type: "string", default: "1" },
        congestion: { type: "string", default: "cubic,bbr" },
        bytes: { type: "string" },
        switch: { type: "string", default: "wait" },
        quic: { type: "string", default: "quic-go" },
        quick: { type: "boolean", default: false },
        full: { type: "boolean", default: false },
        lanes: { type: "string", default: "4" },
        out: { type: "string" },
        fresh: { type: "boolean", default: false },
        retry: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new UserError(`${(error as Error).message}\nKnown options:\n${OPTIONS_TEXT}`);
  }
}

function whole(option: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new UserError(`${option} must be a whole number from ${min} to ${max}, not ${text}.`);
  return value;
}

function congestions(text: string): Congestion[] {
  const names = text.split(",").map((name) => oneOf("--congestion", name, CONGESTIONS));
  return [...new Set(names)];
}

function oneOf<T extends string>(option: string, text: string, known: readonly T[]): T {
  const found = known.find((name) => name === text);
  if (found === undefined) throw new UserError(`${option} must be one of ${known.join(", ")}, not ${text}.`);
  return found;
}
