import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { metricsText } from "../../policy-api/api/counters/metrics-text.ts";
import { FAMILIES, type Family } from "../../policy-api/api/counters/families.ts";

interface Board {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
}
const { panels } = JSON.parse(readFileSync(join(import.meta.dirname, "adaptive-h3.json"), "utf8")) as Board;
/** Those of policy-api/api/stats.ts. */
const GAUGES = ["adaptive_h3_kill_switch", "adaptive_h3_store_writable", "adaptive_h3_version_share"];
/** Those of the TLS edge: a histogram has several. */
const EDGE = [
  ...readFileSync(join(import.meta.dirname, "../edge/internal/operator/metrics.go"), "utf8").matchAll(
    /(?:Name: |(?:gauge|counter|vector|histogram)\()"(\w+)"/g,
  ),
].flatMap(([, name]) => ["", "_bucket", "_sum", "_count"].map((part) => `adaptive_h3_edge_${name}${part}`));
const known = [...metricsText({}, []).matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name ?? "");

it.each(panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)))(
  "the board asks for what there is: %s",
  (_title, expr) => {
    const names = expr.match(/adaptive_h3_\w+/g) ?? [];
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect([...known, ...GAUGES, ...EDGE]).toContain(name);
    if (EDGE.includes(names[0] ?? "")) return;
    const family = names[0]?.replace(/^adaptive_h3_|_total$/g, "") as Family;
    const by = /by \((\w+)\) \(rate/.exec(expr)?.[1];
    if (by !== undefined) expect(Object.keys(FAMILIES[family].labels)).toContain(by);
  },
);

it("the board shows every counter", () => {
  const asked = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join(" ");
  for (const name of known) expect(asked).toContain(name);
});
