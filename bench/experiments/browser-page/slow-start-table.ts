import { figuresTable } from "../../analysis/tables/figures-table.ts";
import { number, size } from "../../analysis/tables/format.ts";
import { median } from "../../analysis/statistics/summary.ts";
import type { RecordedConnections } from "./record-connections.ts";
import { EARLY_BYTES, isEarly, type SlowStart } from "./slow-start.ts";

export function slowStartsTable({ slowStarts }: RecordedConnections): string {
  const medianOf = (connections: readonly SlowStart[], of: (one: SlowStart) => number | null): string =>
    number(median(connections.flatMap((one) => of(one) ?? [])));
  return figuresTable(
    [
      "browsers at a time",
      "connections",
      `slow start ended below ${size(EARLY_BYTES)}`,
      "RTT above the smallest then, ms",
      "their transfer, ms",
      "the others' transfer, ms",
      "packets lost, of all",
    ],
    slowStarts.map(({ browsers, connections }) => {
      const early = connections.filter(isEarly);
      return [
        String(browsers),
        String(connections.length),
        String(early.length),
        medianOf(early, ({ rttAboveMs }) => rttAboveMs),
        medianOf(early, ({ transferMs }) => transferMs),
        medianOf(
          connections.filter((one) => !isEarly(one)),
          ({ transferMs }) => transferMs,
        ),
        String(connections.reduce((sum, { packetsLost }) => sum + packetsLost, 0)),
      ];
    }),
  );
}
