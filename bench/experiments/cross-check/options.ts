import { parseArgs } from "node:util";
import { UserError } from "../../../base/user-error.ts";
import { settingsOf } from "./settings.ts";

export interface CrossCheckOptions {
  readonly quick: boolean;
  readonly seed: number;
  readonly out: string | undefined;
  /** The networks' names; undefined for all. */
  readonly networks: readonly string[] | undefined;
  /** How late the second client acknowledges QUIC packets; undefined: as aioquic does. */
  readonly theirAckDelayMs: number | undefined;
}

const NETWORK_NAMES = settingsOf({ quick: false, networks: undefined }).map(({ network }) => network.name);

const SEED = 1;

const OPTIONS_TEXT = `  --quick                  three loads of the nearest network: whether it works
  --seed N                 what order, losses and resamples are drawn from (${SEED})
  --out FOLDER             where rows and report go (.adaptive-h3/bench/cross-check)
  --networks NAMES         some only, with commas: ${NETWORK_NAMES.join(", ")}
  --their-ack-delay-ms N   how late the second client acknowledges QUIC packets, instead of as aioquic does`;

/** @throws UserError naming the option and what is allowed */
export function readCrossCheckOptions(args: readonly string[]): CrossCheckOptions {
  const { quick, seed, out, networks, "their-ack-delay-ms": delay } = parse(args);
  if (!/^\d{1,9}$/.test(seed)) throw new UserError(`--seed must be a whole number below 1,000,000,000, not ${seed}.`);
  if (delay !== undefined && !/^\d{1,3}(\.\d+)?$/.test(delay))
    throw new UserError(`--their-ack-delay-ms must be a number from 0 to 999, not ${delay}.`);
  const names = networks?.split(",");
  const unknown = names?.find((name) => !NETWORK_NAMES.includes(name));
  if (unknown !== undefined) throw new UserError(`--networks must be of ${NETWORK_NAMES.join(", ")}, not ${unknown}.`);
  return {
    quick,
    seed: Number(seed),
    out,
    networks: names,
    theirAckDelayMs: delay === undefined ? undefined : Number(delay),
  };
}

/** What asks for the same measurement again; where its files went is no part of it. */
export function commandOf({ quick, seed, networks, theirAckDelayMs }: CrossCheckOptions): string {
  return [
    "npm run bench -- cross-check",
    ...(quick ? ["--quick"] : []),
    ...(seed === SEED ? [] : [`--seed ${seed}`]),
    ...(networks === undefined ? [] : [`--networks ${networks.join(",")}`]),
    ...(theirAckDelayMs === undefined ? [] : [`--their-ack-delay-ms ${theirAckDelayMs}`]),
  ].join(" ");
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        quick: { type: "boolean", default: false },
        seed: { type: "string", default: `${SEED}` },
        out: { type: "string" },
        networks: { type: "string" },
        "their-ack-delay-ms": { type: "string" },
      },
    }).values;
  } catch (error) {
    throw new UserError(`${(error as Error).message}\nKnown options:\n${OPTIONS_TEXT}`);
  }
}
