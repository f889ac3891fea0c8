import type { Counted } from "./counted.ts";
import { FAMILIES, readKey } from "./families.ts";

/** What else is told beside the counters: a figure of this moment. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly values: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];
}

/** Of the text format (Prometheus exposition formats, version 0.0.4). */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Counters and gauges in Prometheus' text format. Families without any count have their head alone, so that a rule knows them.
 *
 * @param totals Undefined: not all of it is known. Then no counter is told, as one that falls would count as begun anew
 */
export function metricsText(totals: Counted | undefined, gauges: readonly Gauge[]): string {
  const lines: string[] = [];
  for (const [family, { help }] of Object.entries(FAMILIES)) {
    const name = `adaptive_h3_${family}_total`;
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} counter`);
    for (const [key, count] of Object.entries(totals ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      const read = readKey(key);
      if (read?.family === family) lines.push(`${name}${labelsText(read.labels)} ${count}`);
    }
  }
  for (const { name, help, values } of gauges) {
    lines.push(`# HELP adaptive_h3_${name} ${help}`, `# TYPE adaptive_h3_${name} gauge`);
    for (const { labels, value } of values) lines.push(`adaptive_h3_${name}${labelsText(labels)} ${value}`);
  }
  return `${lines.join("\n")}\n`;
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
