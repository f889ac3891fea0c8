import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { readRecorded } from "./recorded.ts";
import { README, readmePage } from "./write-pages.ts";

const written = readFileSync(README, "utf8");

it("README.md says what was recorded: `npm run bench -- results` writes it", () => {
  expect(written).toBe(readmePage(readRecorded()));
});

it("says otherwise where another figure was recorded", () => {
  const recorded = readRecorded();
  const networks = recorded.visits.networks.map(({ found, ...what }) => ({
    ...what,
    found: found && { ...found, corrected: 0.5 },
  }));
  expect(readmePage({ ...recorded, visits: { ...recorded.visits, networks } })).toContain("50.0 %");
});

/** As a reader would, from the recorded figures alone: with returns, the time saved, on average over the stacks. */
function saved(contender: string): string {
  const { judged } = readRecorded().population;
  const withReturns = judged.find(({ about }) => about === "A visit and up to two returns");
  const gain = withReturns?.summed.find((one) => one.contender === contender)?.gain.estimate ?? Number.NaN;
  return `${(100 * (1 - Math.exp(-gain / (withReturns?.stacks.length ?? 0)))).toFixed(1)} %`;
}

it("holds no contender to the life of our offers alone: both lives stand there, each with ours and with one bit", () => {
  const words = written.replaceAll(/\s+/g, " ");
  const [, hour = "", day = ""] = /(its offers of an hour .*?)(Offers of a day, .*?) \[All/.exec(words) ?? [];
  const figures = (text: string): string[] => [...text.matchAll(/-?\d+\.\d %/g)].map(([figure]) => figure);
  expect(figures(hour)).toEqual([saved("ours"), saved("one bit, offers no longer than ours")]);
  expect(figures(day)).toEqual([saved("ours, offers of a day at most"), saved("one bit"), saved("always")]);
});

it("counts the visits of every network that is no tie, and takes latencies of the run that it names", () => {
  const { visits, overhead } = readRecorded();
  const wrong = visits.networks.flatMap(({ found }) => (found === undefined || found.tie ? [] : [found.wrong]));
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  expect(written).toContain(`${sum(wrong.map(({ count }) => count))} of ${sum(wrong.map(({ n }) => n))} second pages`);
  const ratio = overhead.results.find(({ loop, subject }) => loop === "open" && subject === "small/adaptive");
  expect(written).toContain(`takes ${ratio?.figures.latencyMedianMs?.ratio.median.toFixed(2)} times as long`);
});

it("has at most 700 words, and points at files that are there", () => {
  expect(written.split(/\s+/).filter((word) => /[a-z\d]/i.test(word)).length).toBeLessThanOrEqual(700);
  const links = [...written.matchAll(/\]\(([^)#]+)/g)].map(([, link]) => link ?? "");
  expect(links.length).toBeGreaterThan(8);
  for (const link of links) expect(existsSync(join(dirname(README), link)), link).toBe(true);
  expect(written).not.toMatch(/NaN|undefined|Infinity/);
});
