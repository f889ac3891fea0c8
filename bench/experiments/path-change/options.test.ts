import { expect, it } from "vitest";
import { readOptions } from "../../model/options.ts";
import { choose, OPTIONS } from "./experiment.ts";

const readPathChangeOptions = (args: readonly string[]) => choose(readOptions(args, OPTIONS));

it("measures all, five clients each by default", () => {
  const { scenarios, congestions, clients } = readPathChangeOptions([]);
  expect(scenarios.map(({ name }) => name)).toEqual(["loss", "rtt", "near", "rate"]);
  expect([congestions, clients]).toEqual([["cubic", "bbr"], 5]);
});

it("--quick is one client of one scenario, which may be named", () => {
  const { scenarios, congestions, clients } = readPathChangeOptions(["--quick", "--scenarios", "rate,rtt"]);
  expect([scenarios.map(({ name }) => name), congestions, clients]).toEqual([["rtt"], ["cubic"], 1]);
});

it.each([
  [["--scenarios", "lss"], "--scenarios must be of loss, rtt, near, rate, not lss."],
  [["--congestion", "reno"], "--congestion must be of cubic, bbr, not reno."],
  [["--clients", "0"], "--clients must be a whole number from 1 to 100, not 0."],
  [["--save"], "Known options:\n  --scenarios NAMES"],
])("%j is refused in words", (args, message) => {
  expect(() => readPathChangeOptions(args)).toThrow(message);
});
