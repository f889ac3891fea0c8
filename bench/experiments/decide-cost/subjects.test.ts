import fc from "fast-check";
import { expect, it } from "vitest";
import { CONNECTIONS } from "../../../policy-api/core/connections.ts";
import { decide } from "../../../policy-api/core/decide.ts";
import { inputsOver, NOW_MS } from "./inputs.ts";
import { measuredPolicy } from "./policy.ts";
import { nearestIndex } from "./subjects.ts";

it("every input is decided by gains, of what both transports measured", () => {
  const { policy, table } = measuredPolicy();
  const inputs = inputsOver(table, 64, 1);
  const packets = { tcp: 0, quic: 0 };
  for (const { request, history, explorationUnit } of inputs) {
    expect(history.connections).toHaveLength(CONNECTIONS);
    const { saving, belief } = decide(request, history, policy, NOW_MS, explorationUnit);
    expect(saving?.gain).toBeTypeOf("number");
    expect(saving?.gain).not.toBeNaN();
    packets.tcp += belief?.packets.tcp ?? Number.NaN;
    packets.quic += belief?.packets.quic ?? Number.NaN;
  }
  for (const sent of Object.values(packets)) expect(sent / inputs.length).toBeGreaterThan(100);
});

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
