import { expect, it } from "vitest";
import type { LoadRow } from "../../model/load-row.ts";
import { exampleRow } from "../../model/testing.ts";
import { publishedZeroLine } from "./contenders.ts";

/** Downloads at one rate; the gain of HTTP/3 by loss and delay. */
const grid = (gain: (lossRatio: number, delayMs: number) => number): LoadRow[] =>
  [0, 0.01, 0.02].flatMap((lossRatio) =>
    [5, 25].flatMap((delayMs) =>
      (["fixed-h2", "fixed-h3"] as const).map((arm) =>
        exampleRow({
          arm,
          flow: "download",
          congestion: "cubic",
          rateMbps: 200,
          lossRatio,
          delayMs,
          loadMs: arm === "fixed-h3" ? 100 : 100 * (1 + gain(lossRatio, delayMs)),
        }),
      ),
    ),
  );

it.each([
  ["between the losses around it", (loss: number) => loss * 10 - 0.15, [0.015, 0.015]],
  ["at once where HTTP/3 always wins", () => 0.1, [0, 0]],
  ["never where HTTP/2 always wins", () => -0.1, [2, 2]],
  ["never where it wins only without loss", (loss: number) => (loss === 0 ? 0.1 : -0.5), [2, 2]],
  ["by delay", (loss: number, delay: number) => (delay === 25 ? 0.1 : loss * 10 - 0.05), [0.005, 0]],
])("the published line begins %s", (_name, gain, expected) => {
  const line = publishedZeroLine(grid(gain), "cubic", 200);
  expect(line.rttMs).toEqual([10, 50]);
  line.lossRatio.forEach((loss, i) => {
    expect(loss).toBeCloseTo(expected[i] ?? 0, 9);
  });
});
