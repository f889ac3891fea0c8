import { expect, it } from "vitest";
import { readOptions } from "../../model/options.ts";
import { commonOptions } from "../../harness/run.ts";
import { OPTIONS } from "./experiment.ts";

function readCrossCheckOptions(args: readonly string[]) {
  const {
    "their-ack-delay-ms": theirAckDelayMs,
    quick,
    seed,
    out,
    networks,
  } = readOptions(args, {
    ...OPTIONS,
    ...commonOptions("cross-check"),
  });
  return { quick, seed, out, networks, theirAckDelayMs };
}

it("reads its options", () => {
  expect(readCrossCheckOptions([])).toEqual({
    quick: false,
    seed: 1,
    out: undefined,
    networks: ["near", "near-lossy", "far"],
    theirAckDelayMs: undefined,
  });
  expect(
    readCrossCheckOptions([
      "--quick",
      "--seed",
      "7",
      "--out",
      "x",
      "--networks",
      "far,near",
      "--their-ack-delay-ms",
      "0",
    ]),
  ).toEqual({ quick: true, seed: 7, out: "x", networks: ["far", "near"], theirAckDelayMs: 0 });
});

it.each([
  [["--seed", "-1"], "--seed"],
  [["--seed", "1.5"], "--seed must be a whole number"],
  [["--networks", "near,moon"], "near-lossy, far, not near,moon"],
  [["--their-ack-delay-ms", "1e9"], "from 0 to 999"],
  [["--fast"], "--quick"],
  [["quick"], "--quick"],
])("refuses %j in a sentence that helps", (args, part) => {
  expect(() => readCrossCheckOptions(args)).toThrow(part);
});
