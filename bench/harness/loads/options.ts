import { UserError } from "../../../base/user-error.ts";
import { LANES_MAX } from "../../lab/lane.ts";
import { QUICS } from "../../model/arm.ts";
import { CONGESTIONS } from "../../model/congestion.ts";
import type { LoadOptions } from "../../model/load-experiment.ts";
import { flag, oneOf, type OptionSchema, type OptionsOf, someOf, wholeNumber } from "../../model/options.ts";

/** What a person may ask of an experiment made of loads. */
export const LOAD_OPTIONS = {
  runs: wholeNumber("exactly so many runs of each arm, instead of as many as an answer takes", [1, 100_000], undefined),
  seed: wholeNumber("what order, losses and resamples are drawn from (1)", [0, 2 ** 31 - 1], 1),
  congestion: someOf(`of the server's TCP: ${CONGESTIONS.join(", ")}; several with commas (cubic,bbr)`, CONGESTIONS, [
    "cubic",
    "bbr",
  ]),
  bytes: wholeNumber("the image's size, instead of the experiment's own", [1, 1_000_000_000], undefined),
  quic: oneOf("NAME", `who serves HTTP/3: ${QUICS.join(", ")} (quic-go)`, QUICS, "quic-go"),
  quick: flag("small and few: whether it works"),
  full: flag("as published, which may take days"),
  lanes: wholeNumber(`so many slow networks at a time, 1 to ${LANES_MAX} (4)`, [1, LANES_MAX], 4),
} as const satisfies OptionSchema;

/** What decides the plan. @throws UserError where options exclude each other */
export function loadOptions({ congestion, bytes, quic, ...size }: OptionsOf<typeof LOAD_OPTIONS>): LoadOptions {
  return { congestions: congestion, bytes, quic, size: sizeOf(size) };
}

/** @throws UserError where both are given */
export function sizeOf({ quick, full }: { quick: boolean; full: boolean }): LoadOptions["size"] {
  if (quick && full) throw new UserError("--quick and --full exclude each other.");
  return quick ? "quick" : full ? "full" : "usual";
}
