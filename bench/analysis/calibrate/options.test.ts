import { expect, it } from "vitest";
import { NODES } from "../../../policy-api/decision/loss-nodes.ts";
import { ACCESS_LINES } from "./calibrate.ts";
import { readCalibrateOptions } from "./command.ts";

it("reads the recorded runs by default, and several runs where it is asked", () => {
  const { from, offers } = readCalibrateOptions([]);
  expect([from, offers]).toEqual([["bench/results/senders"], "bench/results/offers"]);
  expect(readCalibrateOptions(["--from", "a,b", "--offers", "c"])).toMatchObject({ from: ["a", "b"], offers: "c" });
});

it("overwrites no policy that is shipped, unless it is told to", () => {
  expect(readCalibrateOptions([]).policies).toBe(".adaptive-h3/policies");
  expect(readCalibrateOptions(["--policies", "policy-api/policies"]).policies).toBe("policy-api/policies");
});

it("the mix is a share of clients for each loss", () => {
  expect(ACCESS_LINES.weights).toHaveLength(NODES);
  expect(ACCESS_LINES.weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 12);
});

it("names what is wrong", () => {
  expect(() => readCalibrateOptions(["--rows", "x"])).toThrow("Known options:");
});
