import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../infra/setup/build.ts";

interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

it("the README says of the overhead what was recorded", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const recorded = JSON.parse(readFileSync(join(ROOT, "bench/results/overhead.json"), "utf8")) as {
    command: string;
    rows: { arm: string; cpuRatio: Spread; throughputRatio: Spread }[];
  };
  const cell = ({ median, low, high }: Spread): string =>
    `${median.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
  expect(readme).toContain(recorded.command);
  const measured = recorded.rows.slice(1);
  expect(measured).toHaveLength(3);
  for (const { cpuRatio, throughputRatio } of measured)
    expect(readme.replaceAll(/ +/g, " ")).toContain(`| ${cell(cpuRatio)} | ${cell(throughputRatio)} |`);
});
