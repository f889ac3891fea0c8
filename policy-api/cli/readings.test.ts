import fc from "fast-check";
import { expect, it } from "vitest";
import { levelsText, lossesText } from "./readings.ts";
import { sharedOut } from "./shared-out.ts";

it("shares out losses as the policy has them", () => {
  expect(lossesText([0.7, 0.1, 0.06, 0.075, 0.05, 0.015])).toBe(
    "no loss: 70 %, loss 0.1 %: 10 %, loss 0.2 %: 6 %, loss 0.5 %: 7.5 %, loss 2 %: 5 %, loss 5 %: 1.5 %",
  );
});

it("shares of any weights add up to one, each within a tenth of a percent", () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 1e-6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 8 }),
      (weights) => {
        const total = weights.reduce((sum, weight) => sum + weight, 0);
        const shares = sharedOut(weights);
        expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
        for (const [i, share] of shares.entries())
          expect(Math.abs(share - (weights[i] ?? 0) / total)).toBeLessThan(0.0011);
      },
    ),
  );
  expect(sharedOut([0, 0])).toEqual([0, 0]);
});

it("says why a site seems to have fewer clients than one of its networks", () => {
  const clients = (n: number): number[] => [n, 0, 0, 0, 0, 0];
  expect(levelsText({ network: clients(71), site: clients(4) })).toEqual({
    network: "71 clients' worth; no loss: 100 %",
    site: "4 clients' worth, where a network counts for 4 at most; no loss: 100 %",
  });
});
