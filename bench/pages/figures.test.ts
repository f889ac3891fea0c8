import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../base/root.ts";
import { billOf } from "../../policy-api/cli/cost/bill.ts";
import { COUNTED } from "../../policy-api/cli/cost/counted.ts";
import type { PopulationSummary } from "../analysis/population/report.ts";
import type { Interval } from "../analysis/statistics/bootstrap.ts";
import { percentWithInterval, withInterval } from "../analysis/tables/format.ts";
import type { LoopbackSummary } from "../experiments/overhead/report.ts";

// The pages that tell what was recorded are written by hand. Their figures are looked up in bench/results.

const textIn = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const summaryIn = (run: string): unknown => JSON.parse(textIn(`bench/results/${run}/summary.json`));
const PAGES = ["README.md", ...globSync("docs/results{,/*}.md", { cwd: ROOT })];
const readme = textIn("README.md").replaceAll(/\s+/g, " ");

/** Its offers live as long as ours: a day. */
const RIVAL = "one bit";
const withReturns = (summaryIn("population") as PopulationSummary).judged.find(
  ({ about }) => about === "A visit and up to two returns",
);
const scoreOf = (contender: string) => withReturns?.summed.find((one) => one.contender === contender);
/** A gain that is summed over stacks, as the time saved on average over them, percent. */
const saved = (gain = Number.NaN, stacks = withReturns?.stacks.length ?? 0): string =>
  (100 * (1 - Math.exp(-gain / stacks))).toFixed(1).replace("-0.0", "0.0");
const savedWithInterval = (gain: Interval | undefined, stacks?: number): string =>
  `${saved(gain?.estimate, stacks)} % (${saved(gain?.low, stacks)} to ${saved(gain?.high, stacks)})`;
const AHEAD = savedWithInterval(scoreOf(RIVAL)?.oursAhead);
/** The same in two browsers. */
const { mixes } = summaryIn("browser-clients") as { readonly mixes: readonly { readonly aheadOfBit: Interval }[] };
const AHEAD_IN_BROWSERS = savedWithInterval(mixes[0]?.aheadOfBit, 1);

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
    AHEAD,
    AHEAD_IN_BROWSERS,
    ...[...ratios, congestion.bbrOverH3].map(withInterval),
    ...cuts.map(({ estimate, low, high }) => percentWithInterval({ estimate, low: high, high: low })),
  ]);
}

describe("README.md", () => {
  it("compares choosing per client with the better protocol for all", () => {
    expect(readme).toContain(`better protocol for each server saves ${saved(scoreOf(RIVAL)?.gain.estimate)} %`);
    expect(readme).toContain(`HTTP/3 for all costs ${saved(scoreOf("always")?.gain.estimate).replace("-", "")} %.`);
    expect(readme).toContain(`on top of that saves ${AHEAD}`);
    expect(readme).toContain(AHEAD_IN_BROWSERS);
  });

  it("sets the server's TCP beside the protocol, on the stack that Linux and quic-go make", () => {
    const stack = withReturns?.stacks.find(({ name }) => name === "cubic, quic-go");
    const savedBy = (contender: string): string => {
      return saved(stack?.scores.find((one) => one.contender === contender)?.gain.estimate, 1);
    };
    expect(readme).toContain(`congestion control saves ${savedBy("HTTP/2 with bbr for all")} % of load time`);
    expect(readme).toContain(`HTTP/3 for all beside cubic saves ${savedBy("always")} %.`);
  });

  it("takes the latency of the run that is recorded, and the bill of the prices that were read", () => {
    const { results } = summaryIn("overhead") as LoopbackSummary;
    const ms = (arm: string) =>
      results
        .find(({ loop, subject }) => loop === "open" && subject === `small/${arm}`)
        ?.figures.latencyMedianMs?.median.toFixed(2);
    expect(readme.replaceAll(/\s+/g, " ")).toContain(
      `takes ${ms("adaptive")} ms, where without a worker it takes ${ms("bare")} ms; passing on alone takes ${ms("pass-through")} ms.`,
    );
    expect(readme).toContain(
      `Ten million pages a month cost $${billOf(COUNTED.plain, 10e6).total.toFixed(0)} on Cloudflare`,
    );
  });

  it("has at most 500 words", () => {
    expect(readme.split(" ").filter((word) => /[a-z\d]/i.test(word)).length).toBeLessThanOrEqual(500);
  });
});
