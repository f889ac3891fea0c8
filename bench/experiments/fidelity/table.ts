import { type FidelityReport, type FidelityRow, MUST_HOLD_MBPS } from "./findings.ts";

/** The report as lines of text: asked, measured, bound, and whether it holds. */
export function fidelityTable(report: FidelityReport): string[] {
  const cells = fidelityCells(report);
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const verdict = report.ok
    ? `holds up to ${report.limitMbps} Mbit/s on this machine`
    : `does NOT hold: a bound is missed without a bottleneck or at ${MUST_HOLD_MBPS} Mbit/s or less`;
  return [...lines, "", verdict];
}

/** The table's cells, its heads first. */
export function fidelityCells(report: FidelityReport): string[][] {
  return [["way", "path", "quantity", "asked", "measured", "bound", ""], ...report.rows.map(cellsOf)];
}

function cellsOf(row: FidelityRow): string[] {
  const number = (value: number): string => value.toFixed(row.unit === "ms" || row.unit === "%" ? 3 : 2);
  return [
    row.direction === "aToB" ? "a->b" : "b->a",
    row.setting,
    row.quantity,
    `${number(row.asked)} ${row.unit}`,
    number(row.measured),
    `${number(row.low)} to ${number(row.high)}`,
    [row.ok ? "ok" : "MISSED", row.note].filter(Boolean).join("; "),
  ];
}
