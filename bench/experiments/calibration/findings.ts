import { type CalibrationCell, cellsOf } from "../../analysis/calibrate/cells.ts";
import { number, percent, size } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Report } from "../../harness/experiment.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";

/** What `calibrate` reads: each cell's times, and where senders measured it to lie. */
export function calibrationSummary({ rows }: LoadsRecorded) {
  return { cells: cellsOf(rows) };
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
  const mbps = (place: CalibrationCell["configured"] | undefined): string =>
    number(((place?.deliveryRateBps ?? Number.NaN) * 8) / 1e6);
  return tableOf(cells, [
    ["image", ({ contentBytes }) => size(contentBytes)],
    ["Mbit/s", ({ configured }) => mbps(configured)],
    ["loss", ({ configured }) => percent(configured.lossRatio)],
    ["RTT ms", ({ configured }) => number(configured.rttMs)],
    ["n", ({ stay, switch: switched, cold }) => [stay.n, switched.n, cold.n].join(", ")],
    ["stays ms", ({ stay }) => number(Math.exp(stay.log))],
    ["gain of the switch", ({ stay, switch: switched }) => percent(Math.expm1(stay.log - switched.log))],
    ["gain of a cold session", ({ stay, cold }) => percent(Math.expm1(stay.log - cold.log))],
    ["TCP measures: loss", ({ measured }) => percent(measured.tcp?.lossRatio)],
    ["Mbit/s", ({ measured }) => mbps(measured.tcp)],
    ["QUIC measures: loss", ({ measured }) => percent(measured.quic?.lossRatio)],
    ["Mbit/s", ({ measured }) => mbps(measured.quic)],
  ]);
}
