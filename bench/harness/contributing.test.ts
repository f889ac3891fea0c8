import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../base/root.ts";
import { fill } from "../analysis/tables/template.ts";
import type { Interval } from "../analysis/statistics/bootstrap.ts";
import type { LoadsExperiment } from "./loads/define.ts";
import { exampleOptions } from "./loads/testing.ts";

const text = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8");

/** The code block below a file's name. */
function block(file: string): string {
  const [, found] = new RegExp(`${file}\`:\n\n\`\`\`\\w+\n(.*?)\`\`\``, "s").exec(text) ?? [];
  if (found === undefined) throw new Error(`CONTRIBUTING.md has no block ${file}.`);
  return found;
}

it("CONTRIBUTING.md's experiment can be typed as it stands there", async () => {
  const folder = mkdtempSync(join(tmpdir(), "h3-contributing-"));
  try {
    for (const file of ["experiment.ts", "report.ts"])
      writeFileSync(join(folder, file), block(file).replaceAll("../../", `${join(ROOT, "bench")}/`));
    const { experiment } = (await import(join(folder, "experiment.ts"))) as { experiment: LoadsExperiment<object> };
    const { cells } = experiment.definition.plan(exampleOptions("--quick"));
    expect(cells.map(({ network }) => network.jitterMs)).toEqual([0, 2, 0, 2]);
    const { jitterHurts } = (await import(join(folder, "report.ts"))) as {
      jitterHurts: (cells: readonly { congestion: string; ratio?: Interval }[]) => string;
    };
    const at = (estimate: number) => ({
      congestion: "cubic",
      ratio: { estimate, low: estimate - 0.1, high: estimate + 0.1 },
    });
    expect([jitterHurts([at(1.5), at(1)]), jitterHurts([at(1), at(1.5)]), jitterHurts([at(1), at(1.1)])]).toEqual([
      "Holds",
      "Does not hold",
      "Not shown",
    ]);
    const series = { jitter: { title: "T", figures: "F" } };
    expect(fill(block("report.md"), { head: "H", claim: "Holds", series }, "report.md")).toContain("**Holds**");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
