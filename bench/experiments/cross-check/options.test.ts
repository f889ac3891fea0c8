import { expect, it } from "vitest";
import { commandOf, readCrossCheckOptions } from "./options.ts";

it("reads its options", () => {
  expect(readCrossCheckOptions([])).toEqual({
    quick: false,
    seed: 1,
    out: undefined,
    networks: undefined,
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
  [[], ""],
  [["--out", "/a/folder"], ""],
  [["--seed", "7", "--quick"], " --quick --seed 7"],
  [["--their-ack-delay-ms", "0", "--networks", "near,far"], " --networks near,far --their-ack-delay-ms 0"],
])("names the command of %j", (args, expected) => {
  expect(commandOf(readCrossCheckOptions(args))).toBe(`npm run bench -- cross-check${expected}`);
});

it.each([
  [["--seed", "-1"], "--seed"],
  [["--seed", "1.5"], "--seed must be a whole number"],
  [["--networks", "near,moon"], "near-lossy, far, not moon"],
  [["--their-ack-delay-ms", "1e9"], "from 0 to 999"],
  [["--fast"], "--quick"],
  [["quick"], "--quick"],
])("refuses %j in a sentence that helps", (args, part) => {
  expect(() => readCrossCheckOptions(args)).toThrow(part);
});
