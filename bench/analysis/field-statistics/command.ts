import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { flag, readOptions, wholeNumber, words } from "../../model/options.ts";
import { LIES, type Lie, playLiars } from "./liars.ts";
import { fieldReport, type Lied, verdictsOf } from "./report.ts";
import { playScenario } from "./runs.ts";
import { type Scenario, SCENARIOS } from "./scenarios.ts";

const OPTIONS = {
  runs: wholeNumber("runs of each scenario (10,000)", [1, 1_000_000], 10_000),
  quick: flag("200 runs of each scenario"),
  out: words(
    "FOLDER",
    "where report and summary go (bench/results/field-statistics)",
    "bench/results/field-statistics",
  ),
  seed: wholeNumber("what clients are drawn from (1)", [0, 2 ** 31 - 1], 1),
};

const QUICK_RUNS = 200;

/** Liars are played on scenarios of every spread, a tenth as often: each run counts twice. */
const LIARS_ON: readonly Scenario[] = [0.3, 0.7, 1.5].map((cv) => ({
  name: `cv ${cv}, 1 to 50 pages`,
  cv,
  pages: "many",
  saves: 0,
  missing: "at-random",
  grows: false,
}));

/** Simulates visitors, and counts how often the intervals of policy-api/outcomes hold the truth. */
export function fieldStatisticsCommand(args: readonly string[]): void {
  const options = readOptions(args, OPTIONS);
  const runs = options.quick ? Math.min(options.runs, QUICK_RUNS) : options.runs;
  const begun = performance.now();
  const tallies = SCENARIOS.map((scenario) => {
    const tally = playScenario(scenario, runs, options.seed);
    console.log(`${scenario.name}: primary ${tally.covered.primary}, gain ${tally.covered.gain} of ${runs} covered.`);
    return tally;
  });
  const lied = LIARS_ON.flatMap((scenario) =>
    (Object.keys(LIES) as Lie[]).map((lie): Lied => {
      const looks = playLiars(scenario, lie, Math.ceil(runs / 10), options.seed);
      return { scenario: scenario.name, lie, looks };
    }),
  );
  const about = { command: ["npm run bench -- field-statistics", ...args].join(" "), seed: options.seed };
  const out = resolve(ROOT, options.out);
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, "report.md"), fieldReport(tallies, lied, about));
  const summary = { ...about, verdicts: verdictsOf(tallies), tallies, lied };
  writeFileSync(join(out, "summary.json"), `${JSON.stringify(summary, null, 1)}\n`);
  for (const { rule, worst, holds } of verdictsOf(tallies))
    console.log(`${holds ? "Holds" : "Does not hold"}: ${rule} (${worst}).`);
  console.log(
    `${Math.round((performance.now() - begun) / 1000)} s. Report: ${relative(process.cwd(), join(out, "report.md"))}.`,
  );
}
