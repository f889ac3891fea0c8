import { cellsOf } from "../../analysis/calibrate/cells.ts";
import { figuresTable } from "../../analysis/tables/figures-table.ts";
import { number, percent, size } from "../../analysis/tables/format.ts";
import { reportHead } from "../../harness/loads/head.ts";
import type { Report, ReportInput } from "../../harness/loads/report.ts";

/** The report of what `calibrate` reads: each cell's times and where senders measured it to lie. */
export function calibrationReport(input: ReportInput): Promise<Report> {
  const { experiment, rows, starts, command } = input;
  const cells = cellsOf(rows);
  const tables = [...Map.groupBy(cells, ({ congestion }) => congestion)].map(
    ([congestion, own]) => `## TCP congestion control: ${congestion}

${figuresTable(
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
  own.map(({ contentBytes, configured, measured, stay, switch: switched, cold }) => [
    size(contentBytes),
    number((configured.deliveryRateBps * 8) / 1e6),
    percent(configured.lossRatio),
    number(configured.rttMs),
    [stay.n, switched.n, cold.n].join(", "),
    number(Math.exp(stay.log)),
    percent(Math.expm1(stay.log - switched.log)),
    percent(Math.expm1(stay.log - cold.log)),
    percent(measured.tcp?.lossRatio),
    number(measured.tcp === undefined ? undefined : (measured.tcp.deliveryRateBps * 8) / 1e6),
    percent(measured.quic?.lossRatio),
    number(measured.quic === undefined ? undefined : (measured.quic.deliveryRateBps * 8) / 1e6),
  ]),
)}`,
  );
  const missing = experiment.cells.filter(({ id }) => cells.every((cell) => cell.id !== id)).map(({ id }) => id);
  const markdown = [
    reportHead(input),
    `Gains are ratios of means, less 1: above 0 HTTP/3 is faster. \`npm run bench -- calibrate\` turns these cells into policies.${
      missing.length === 0 ? "" : ` Too few loads counted in ${missing.length} cells: ${missing.join(", ")}.`
    }`,
    ...tables,
  ].join("\n\n");
  return Promise.resolve({
    summary: { experiment: experiment.name, command, starts, rows: rows.length, cells },
    markdown,
    pictures: [],
  });
}
