import { expect, it } from "vitest";
import { readCalibrateOptions } from "./options.ts";

it("reads the recorded calibration by default, and several runs where it is asked", () => {
  expect(readCalibrateOptions([]).from).toEqual(["bench/results/calibration"]);
  expect(readCalibrateOptions(["--from", "a,b"]).from).toEqual(["a", "b"]);
});

it.each([
  [["--mix", "none"], "--mix must be one of nine-networks, mostly-clean, not none."],
  [["--rows", "x"], "Known options:"],
])("names what is wrong in %j", (args, message) => {
  expect(() => readCalibrateOptions(args)).toThrow(message);
});
