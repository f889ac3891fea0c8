import { expect, it } from "vitest";
import { LOSS_NODES } from "../../../policy-api/decision/loss-nodes.ts";
import { ACCESS_LINES } from "./calibrate.ts";
import { readOptions } from "../../model/options.ts";
import { CALIBRATE_OPTIONS } from "./command.ts";

const read = (args: readonly string[]) => readOptions(args, CALIBRATE_OPTIONS);

it("reads the recorded runs by default, and others where it is asked", () => {
  const { from, offers } = read([]);
  expect([from, offers]).toEqual(["bench/results/senders", "bench/results/offers"]);
  expect(read(["--from", "a", "--offers", "c"])).toMatchObject({ from: "a", offers: "c" });
});

it("overwrites no policy that is shipped, unless it is told to", () => {
  expect(read([]).policies).toBe(".adaptive-h3/policies");
  expect(read(["--policies", "policy-api/policies"]).policies).toBe("policy-api/policies");
});

it("the mix is a share of clients for each loss", () => {
  expect(ACCESS_LINES).toHaveLength(LOSS_NODES.length);
  expect(ACCESS_LINES.reduce<number>((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 12);
});

it("names what is wrong", () => {
  expect(() => read(["--rows", "x"])).toThrow("Known options:");
});
