import fc from "fast-check";
import { expect, it } from "vitest";
import { nearestFigure, nearestIndex } from "./nearest.ts";

it.each([
  [[5], -1, 0],
  [[5], 9, 0],
  [[1, 2, 4], 0, 0],
  [[1, 2, 4], 1.4, 0],
  [[1, 2, 4], 1.5, 0],
  [[1, 2, 4], 1.6, 1],
  [[1, 2, 4], 3.1, 2],
  [[1, 2, 4], 99, 2],
])("of %j the nearest to %d is number %d", (values, value, index) => {
  expect(nearestIndex(Float64Array.from(values), value)).toBe(index);
});

it("takes a value that none is nearer than", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: -100, max: 100 }), { minLength: 1, maxLength: 12 }),
      fc.double({ min: -120, max: 120, noNaN: true }),
      (unordered, value) => {
        const values = Float64Array.from(unordered).sort();
        const found = values[nearestIndex(values, value)] ?? Number.NaN;
        expect(Math.abs(found - value)).toBe(Math.min(...values.map((one) => Math.abs(one - value))));
      },
    ),
  );
});

it("reads figures in the order of core's lattices", () => {
  const axes = [Float64Array.of(0, 1), Float64Array.of(0, 1, 2), Float64Array.of(0), Float64Array.of(0, 1)] as const;
  const figures = Float64Array.from({ length: 12 }, (_, node) => node);
  expect(nearestFigure({ axes, figures }, 1, 2, 0, 1)).toBe(((1 * 1 + 0) * 3 + 2) * 2 + 1);
  expect(nearestFigure({ axes, figures }, 0.1, 0.9, 7, -3)).toBe(2);
});
