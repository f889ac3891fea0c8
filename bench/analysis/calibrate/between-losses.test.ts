import { expect, it } from "vitest";
import type { SenderPlace, SenderTimes } from "../senders/places.ts";
import { offBetweenLosses } from "./between-losses.ts";

const STACK = { tcp: "cubic", quic: "quic-go" } as const;

/** Pages whose logarithm is this, of one sender. */
function pages(log: number): SenderTimes {
  const time = { log, se: 0.01 };
  return { n: 6, first: time, opened: time, later: time };
}

/** Places at two RTTs, and what HTTP/3 gains there at each loss. @param gainAt by the loss, and 0 at the one RTT, 0.2 at the other */
function placesBy(gainAt: (loss: number, clean: number) => number, losses: readonly number[]): SenderPlace[] {
  return losses.flatMap((lossRatio) =>
    [0, 0.2].map((clean, i) => ({
      rttMs: 10 + i,
      lossRatio,
      contentBytes: 1e6,
      times: { [STACK.tcp]: pages(5), [STACK.quic]: pages(5 - gainAt(lossRatio, clean)) },
    })),
  );
}

it("is nothing where gains are straight in the loss from each place's own to the mean of all, and more in the logarithm", () => {
  const straight = placesBy(
    (loss, clean) => (loss < 0.02 ? clean + (loss / 0.02) * (0.7 - clean) : 0.6 + clean),
    [0, 0.001, 0.005, 0.02],
  );
  for (const kind of ["next", "return"] as const) {
    expect(offBetweenLosses(straight, STACK, kind, "line")).toBeCloseTo(0, 9);
    expect(offBetweenLosses(straight, STACK, kind, "logarithm")).toBeGreaterThan(0.1);
  }
});

it("is the other way round where they are straight in the logarithm", () => {
  const share = (loss: number) => Math.log(loss / 0.0005 + 1) / Math.log(0.02 / 0.0005 + 1);
  const bent = placesBy((loss, clean) => clean + Math.min(share(loss), 1) * (0.7 - clean), [0, 0.001, 0.005, 0.02]);
  expect(offBetweenLosses(bent, STACK, "next", "logarithm")).toBeCloseTo(0, 9);
  expect(offBetweenLosses(bent, STACK, "next", "line")).toBeGreaterThan(0.1);
});

it("is the root of the mean square: half of the places are off by 0.2, half by none", () => {
  const off = placesBy(
    (loss, clean) => (loss === 0.01 ? 0.35 + clean / 2 + (clean > 0 ? 0.2 : 0) : clean + (loss > 0 ? 0.7 - clean : 0)),
    [0, 0.01, 0.02],
  );
  expect(offBetweenLosses(off, STACK, "next", "line")).toBeCloseTo(0.2 / Math.SQRT2, 9);
});

it("says nothing where no loss between was measured", () => {
  expect(
    offBetweenLosses(
      placesBy(() => 0.1, [0, 0.02]),
      STACK,
      "next",
      "line",
    ),
  ).toBeUndefined();
});
