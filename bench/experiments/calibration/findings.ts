import { type CalibrationCell, cellsOf } from "../../analysis/calibrate/cells.ts";
import { figuresTable } from "../../analysis/tables/figures-table.ts";
import { number, percent, size } from "../../analysis/tables/format.ts";
import type { Report } from "../../harness/experiment.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";

/** What `calibrate` reads: each cell's times, and where senders measured it to lie. */
export function calibrationSummary({ name, command, starts, rows }: LoadsRecorded) {
  return { experiment: name, command, starts, rows: rows.length, cells: cellsOf(rows) };
}

export function calibrationReport(
  { cells }: ReturnType<typeof calibrationSummary>,
  { experiment }: LoadsRecorded,
): Report {
  const missing = experiment.cells.filter(({ id }) => cells.every((cell) => cell.id !== id)).map(({ id }) => id);
  return {
    values: {
      missing: missing.length === 0 ? "" : `${missing.length} cells: ${missing.join(", ")}`,
      congestions: [...Map.groupBy(cells, ({ congestion }) => congestion)].map(([congestion, own]) => ({
        congestion,
        table: cellsTable(own),
      })),
    },
  };
}

function cellsTable(cells: readonly CalibrationCell[]): string {
  const mbps = (deliveryRateBps: number | undefined): string =>
    number(deliveryRateBps === undefined ? undefined : (deliveryRateBps * 8) / 1e6);
  return figuresTable(
    [
      "image",
      "Mbit/s",
      "loss",
      "RTT ms",
      "n",
      "stays ms",
      "gain of the switch",
      "gain of a cold session",
      "TCP measures: loss",
      "Mbit/s",
      "QUIC measures: loss",
      "Mbit/s",
    ],
    cells.map(({ contentBytes, configured, measured, stay, switch: switched, cold }) => [
      size(contentBytes),
      mbps(configured.deliveryRateBps),
      percent(configured.lossRatio),
      number(configured.rttMs),
      [stay.n, switched.n, cold.n].join(", "),
      number(Math.exp(stay.log)),
      percent(Math.expm1(stay.log - switched.log)),
      percent(Math.expm1(stay.log - cold.log)),
      percent(measured.tcp?.lossRatio),
      mbps(measured.tcp?.deliveryRateBps),
      percent(measured.quic?.lossRatio),
      mbps(measured.quic?.deliveryRateBps),
    ]),
  );
}
