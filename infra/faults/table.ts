import { type Count, quantile } from "./accounting.ts";
import type { Reading } from "./soak.ts";

const HEADINGS = [
  "fault",
  "requests",
  "right",
  "wrong",
  "aborted",
  "refused",
  "502-504",
  "repeated",
  "deciding again",
  "p50",
  "p99",
  "max",
] as const;

/** The table at the end of a run: a row for each fault. */
export function tableOf(counts: readonly Count[]): string {
  const rows = counts.map((count) => [
    count.name,
    ...[count.requests, count.right, count.wrong, count.aborted, count.refused, count.own, count.repeated].map(String),
    // The worst of the rounds.
    count.decidingMs.length === 0 ? "-" : time(Math.max(...count.decidingMs)),
    time(quantile(count.beyondMs, 0.5)),
    time(quantile(count.beyondMs, 0.99)),
    time(quantile(count.beyondMs, 1)),
  ]);
  return aligned([[...HEADINGS], ...rows]);
}

/** How fast pages came while the edge knew that workerd was gone. Nothing if it never was. */
export function whileGone(beyondMs: readonly number[]): string | undefined {
  if (beyondMs.length === 0) return undefined;
  const [half, most] = [0.5, 0.99].map((share) => time(quantile(beyondMs, share)));
  return `While workerd was known to be gone: ${beyondMs.length} right answers, ${half} (p50) and ${most} (p99) beyond the origin's time.`;
}

const SOAK_MINUTES = 10;

/** The table of a soak: a row for every ten minutes, and the last. */
export function soakTableOf(readings: readonly Reading[]): string {
  const rows = readings.filter(({ minute }, i) => minute % SOAK_MINUTES === 0 || i === readings.length - 1);
  return aligned([
    ["minute", "workerd", "descriptors", "edge", "descriptors", "rows"],
    ...rows.map((r) => [
      String(r.minute),
      `${r.workerdMB} MB`,
      String(r.workerdDescriptors),
      `${r.edgeMB} MB`,
      String(r.edgeDescriptors),
      String(r.rows),
    ]),
  ]);
}

/** Lines up the columns: the first to the left, the others to the right. */
export function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function time(ms: number | undefined): string {
  if (ms === undefined) return "-";
  return ms >= 10_000 ? `${(ms / 1000).toFixed(1)} s` : ms >= 100 ? `${ms.toFixed(0)} ms` : `${ms.toFixed(1)} ms`;
}
