import { type Count, quantile } from "./accounting.ts";

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
  const lines = [HEADINGS, ...rows];
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((row) => row[column]?.length ?? 0)));
  return lines
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  "),
    )
    .join("\n");
}

/** How fast pages came while the edge knew that workerd was gone. Nothing if it never was. */
export function whileGone(beyondMs: readonly number[]): string | undefined {
  if (beyondMs.length === 0) return undefined;
  const [half, most] = [0.5, 0.99].map((share) => time(quantile(beyondMs, share)));
  return `While workerd was known to be gone: ${beyondMs.length} right answers, ${half} (p50) and ${most} (p99) beyond the origin's time.`;
}

function time(ms: number | undefined): string {
  if (ms === undefined) return "-";
  return ms >= 10_000 ? `${(ms / 1000).toFixed(1)} s` : ms >= 100 ? `${ms.toFixed(0)} ms` : `${ms.toFixed(1)} ms`;
}
