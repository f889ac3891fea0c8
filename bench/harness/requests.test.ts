import { expect, it } from "vitest";
import { readOptions } from "../model/options.ts";
import { requestOptions, roundsOf } from "./requests.ts";
import { commonOptions } from "./run.ts";

const OVERHEAD = { experiment: "overhead", seconds: 2, quickSeconds: 0.5 };

function readOverheadOptions(args: readonly string[], defaults = OVERHEAD) {
  const given = readOptions(args, { ...requestOptions(defaults), ...commonOptions(defaults.experiment) });
  return { ...roundsOf(given, defaults), out: given.out, fresh: given.fresh };
}

it("has defaults, and smaller ones for --quick", () => {
  expect(readOverheadOptions([])).toMatchObject({ rounds: 9, seconds: 2, seed: 1, out: undefined, fresh: false });
  expect(readOverheadOptions(["--quick"])).toMatchObject({ rounds: 2, seconds: 0.5 });
  expect(readOverheadOptions(["--quick", "--rounds", "3"])).toMatchObject({ rounds: 3, seconds: 0.5 });
});

it("takes another experiment's defaults", () => {
  const defaults = { experiment: "api-load", seconds: 5, quickSeconds: 1 };
  expect(readOverheadOptions([], defaults)).toMatchObject({ rounds: 9, seconds: 5 });
  expect(readOverheadOptions(["--quick"], defaults)).toMatchObject({ rounds: 2, seconds: 1 });
  expect(() => readOverheadOptions(["--save"], defaults)).toThrow(".adaptive-h3/bench/api-load");
});

it.each([
  [["--rounds", "0"], "--rounds must be a whole number from 1 to 1000, not 0."],
  [["--rounds", "2.5"], "--rounds must be a whole number from 1 to 1000, not 2.5."],
  [["--seconds", "1e9"], "--seconds must be a number from 0.1 to 600, not 1e9."],
  [["--seed", "x"], "--seed must be a whole number"],
  [["--save"], "Known options:\n  --rounds N"],
])("%j is refused in words", (args, message) => {
  expect(() => readOverheadOptions(args)).toThrow(message);
});
