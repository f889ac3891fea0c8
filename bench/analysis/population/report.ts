import { number, percent } from "../tables/format.ts";
import { tableOf } from "../tables/table-of.ts";
import { fillFile } from "../tables/template.ts";
import type { ClassScore, Score } from "./judge.ts";

/** One way to ask: which population, which lives, which inputs. */
export interface Judged {
  readonly about: string;
  /** All stacks together: their gains summed. */
  readonly summed: readonly Score[];
  readonly stacks: readonly { readonly name: string; readonly scores: readonly Score[] }[];
  readonly classes: readonly ClassScore[];
}

export interface PopulationAbout {
  readonly command: string;
  readonly clients: number;
  readonly loads: number;
  readonly rowsSha256: string;
}

/** As it is recorded. */
export interface PopulationSummary extends PopulationAbout {
  readonly judged: readonly Judged[];
}

export function populationReport(judged: readonly Judged[], about: PopulationAbout): string {
  return fillFile("bench/analysis/population/report.md", {
    ...about,
    judged: judged.map(({ about: text, summed, stacks, classes }) => ({
      about: text,
      summed: summedTable(summed),
      stacks: stacksTable(stacks),
      classes: classesTable(classes),
    })),
  });
}

function summedTable(scores: readonly Score[]): string {
  return tableOf(scores, [
    ["policy", ({ contender }) => contender],
    ["gain of a page view, summed over stacks", ({ gain }) => interval(gain)],
    ["ours gains more by", ({ oursAhead }) => interval(oursAhead)],
    ["of the best with the same sight", ({ shareOfSameSight }) => percent(shareOfSameSight)],
    ["of who knows each client", ({ shareOfOracle }) => percent(shareOfOracle)],
    ["p50 of clients", ({ p50 }) => number(p50)],
    ["p75", ({ p75 }) => number(p75)],
    ["p75 where HTTP/3 wins", ({ p75WhereFaster }) => p75WhereFaster.toFixed(3)],
  ]);
}

function stacksTable(stacks: Judged["stacks"]): string {
  const names = stacks[0]?.scores.map(({ contender }) => contender) ?? [];
  return tableOf(names, [
    ["policy", (name) => name],
    ...stacks.map(({ name: stack, scores }): [string, (name: string) => string] => [
      stack,
      (name) => {
        const found = scores.find(({ contender }) => contender === name);
        return found === undefined ? "-" : interval(found.gain);
      },
    ]),
  ]);
}

function classesTable(classes: readonly ClassScore[]): string {
  return tableOf(Object.keys(classes[0]?.gains ?? {}), [
    ["policy", (name) => name],
    ...classes.map(({ of, share, gains }): [string, (name: string) => string] => [
      `${of} (${percent(share)})`,
      (name) => (gains[name] ?? Number.NaN).toFixed(3),
    ]),
  ]);
}

/** `0.120 (0.015 to 0.225)` */
export function interval({ estimate, low, high }: Score["gain"]): string {
  return `${estimate.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`;
}
