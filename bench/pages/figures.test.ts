import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../base/root.ts";
import type { PopulationSummary } from "../analysis/population/report.ts";
import type { Interval } from "../analysis/statistics/bootstrap.ts";
import { percentWithInterval, withInterval } from "../analysis/tables/format.ts";
import type { NineVisits } from "../experiments/nine-visits/findings.ts";
import type { LoopbackSummary } from "../harness/loopback/summary.ts";

// The pages that tell what was recorded are written by hand. Their figures are looked up in bench/results.

const textIn = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const summaryIn = (run: string): unknown => JSON.parse(textIn(`bench/results/${run}/summary.json`));
const PAGES = ["README.md", ...globSync("docs/results{,/*}.md", { cwd: ROOT })];
const readme = textIn("README.md").replaceAll(/\s+/g, " ");

describe.each(PAGES)("%s", (page) => {
  const text = textIn(page);

  it("has no interval that no report has", () => {
    const intervals = text.match(/-?[\d.,]+(?: %)? \((?:over )?-?[\d.,]+ to (?:over )?-?[\d.,]+\)/g) ?? [];
    const reports = globSync("bench/results/*/report.md", { cwd: ROOT }).map(textIn).join();
    const other = derived();
    expect(intervals.filter((one) => !reports.includes(one) && !other.has(one))).toEqual([]);
  });

  it("points at files that are there", () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => link ?? "");
    expect(links.length).toBeGreaterThan(0);
    for (const link of links) expect(existsSync(join(ROOT, dirname(page), link)), link).toBe(true);
  });
});

/** What the pages say in another form than a report: ratios of load times, by which less time a page takes, bbr beside HTTP/3. */
function derived(): Set<string> {
  const evaluation = summaryIn("ohashi-evaluation") as {
    readonly gains: readonly { readonly fixedH3: Interval | null }[];
    readonly cuts: readonly Readonly<Record<"fixedH2" | "alwaysOffer", Interval | null>>[];
  };
  const congestion = summaryIn("tcp-congestion") as { readonly bbrOverH3: Interval };
  const mapped = (all: readonly (Interval | null)[], map: (value: number) => number): Interval[] =>
    all.flatMap((one) =>
      one === null ? [] : [{ estimate: map(one.estimate), low: map(one.low), high: map(one.high) }],
    );
  const ratios = mapped(
    evaluation.gains.map(({ fixedH3 }) => fixedH3),
    (gain) => 1 + gain,
  );
  const cuts = mapped(
    evaluation.cuts.flatMap(({ fixedH2, alwaysOffer }) => [fixedH2, alwaysOffer]),
    (cut) => -cut,
  );
  return new Set([
    ...[...ratios, congestion.bbrOverH3].map(withInterval),
    ...cuts.map(({ estimate, low, high }) => percentWithInterval({ estimate, low: high, high: low })),
  ]);
}

describe("README.md", () => {
  /** As a reader would, from the recorded figures alone: with returns, the time saved, on average over the stacks. */
  const saved = (contender: string): string => {
    const { judged } = summaryIn("population") as PopulationSummary;
    const withReturns = judged.find(({ about }) => about === "A visit and up to two returns");
    const gain = withReturns?.summed.find((one) => one.contender === contender)?.gain.estimate ?? Number.NaN;
    return `${(100 * (1 - Math.exp(-gain / (withReturns?.stacks.length ?? 0)))).toFixed(1)} %`;
  };

  it("holds no contender to the life of our offers alone: both lives stand there, each with ours and with one bit", () => {
    for (const contender of [
      "ours",
      "one bit, offers no longer than ours",
      "ours, offers of a day at most",
      "one bit",
      "always",
    ])
      expect(readme).toContain(saved(contender));
  });

  it("counts the visits of every network that is no tie, and takes latencies of the run that it names", () => {
    const { networks } = summaryIn("nine-visits") as NineVisits;
    const wrong = networks.flatMap(({ found }) => (found === undefined || found.tie ? [] : [found.wrong]));
    const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
    expect(readme).toContain(`${sum(wrong.map(({ count }) => count))} of ${sum(wrong.map(({ n }) => n))} second pages`);
    const { results } = summaryIn("overhead") as LoopbackSummary;
    const ratio = results.find(({ loop, subject }) => loop === "open" && subject === "small/adaptive");
    expect(readme).toContain(`takes ${ratio?.figures.latencyMedianMs?.ratio.median.toFixed(2)} times as long`);
  });

  it("has at most 700 words", () => {
    expect(readme.split(" ").filter((word) => /[a-z\d]/i.test(word)).length).toBeLessThanOrEqual(700);
  });
});
