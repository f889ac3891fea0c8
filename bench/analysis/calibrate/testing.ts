import type { CalibrationCell, LogMean, Place } from "./cells.ts";

/** What a made-up stack takes at a place, as logarithms. */
export interface Truth {
  stay(place: Place, bytes: number): number;
  switchSaving(place: Place, bytes: number): number;
  coldSaving(place: Place, bytes: number): number;
}

const exactly = (log: number): LogMean => ({ log, variance: 1e-4, n: 8 });

/** Cells of a stack whose times are known, over a grid like that of `calibration`; both transports measure what is. */
export function cellsOfTruth(truth: Truth): CalibrationCell[] {
  const cells: CalibrationCell[] = [];
  for (const contentBytes of [1e5, 1e6])
    for (const lossRatio of [0, 0.01, 0.03, 0.06])
      for (const rttMs of [0.1, 10, 34, 90])
        for (const deliveryRateBps of [2.5e6, 1e7, 3e7]) {
          const place = { rttMs, lossRatio, deliveryRateBps };
          const stay = truth.stay(place, contentBytes);
          cells.push({
            id: `${contentBytes}-${lossRatio}-${rttMs}-${deliveryRateBps}`,
            congestion: "cubic",
            contentBytes,
            configured: place,
            measured: { tcp: place, quic: place },
            stay: exactly(stay),
            switch: exactly(stay - truth.switchSaving(place, contentBytes)),
            cold: exactly(stay - truth.coldSaving(place, contentBytes)),
          });
        }
  return cells;
}
