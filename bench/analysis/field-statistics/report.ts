import { percent } from "../tables/format.ts";
import { markdownTable } from "../tables/table.ts";
import { tableOf } from "../tables/table-of.ts";
import { fillFile } from "../tables/template.ts";
import type { Lie, Moved } from "./liars.ts";
import type { Tally } from "./runs.ts";
import { CLIENTS, LOOKS } from "./scenarios.ts";

/** The least share of runs that an interval must cover in, and the most that it may be wider than one for a fixed number. */
export const COVERAGE_MIN = 0.945;
export const WIDTH_MAX = 1.6;
/** How often an even draw may be called uneven. */
export const UNEVEN_MAX = 0.001;

export interface Lied {
  readonly scenario: string;
  readonly lie: Lie;
  readonly looks: readonly Moved[];
}

export interface About {
  readonly command: string;
  readonly seed: number;
}

/** The worst scenario of each rule. */
export function verdictsOf(tallies: readonly Tally[]): readonly { rule: string; worst: string; holds: boolean }[] {
  const coverage = (name: "primary" | "gain" | "local"): number =>
    Math.min(...tallies.map(({ covered, runs }) => covered[name] / runs));
  const width = Math.max(...tallies.map(({ last }) => last.reach / last.fixedReach));
  const uneven =
    tallies.reduce((sum, { called }) => sum + called.uneven, 0) / tallies.reduce((sum, { runs }) => sum + runs, 0);
  return [
    ...(["primary", "gain", "local"] as const).map((name) => ({
      rule: `${NAMES[name]} covers in at least ${percent(COVERAGE_MIN)} of the runs of every scenario`,
      worst: percent(coverage(name)),
      holds: coverage(name) >= COVERAGE_MIN,
    })),
    {
      rule: `after ${CLIENTS} clients the gain's interval is at most ${WIDTH_MAX} times as wide as one for a fixed number`,
      worst: width.toFixed(3),
      holds: width <= WIDTH_MAX,
    },
    {
      rule: `an even draw is called uneven in at most ${percent(UNEVEN_MAX)} of the runs, at any look`,
      worst: `${(uneven * 100).toFixed(2)} %`,
      holds: uneven <= UNEVEN_MAX,
    },
  ];
}

const NAMES = { primary: "the primary outcome", gain: "the gain", local: "the local effect" } as const;

export function fieldReport(tallies: readonly Tally[], lied: readonly Lied[], about: About): string {
  return fillFile("bench/analysis/field-statistics/report.md", {
    command: about.command,
    seed: about.seed,
    runs: tallies[0]?.runs.toLocaleString("en-US") ?? "no",
    looks: LOOKS.join(", "),
    verdicts: tableOf(verdictsOf(tallies), [
      ["rule", ({ rule }) => rule],
      ["worst", ({ worst }) => worst],
      ["", ({ holds }) => (holds ? "holds" : "does not hold")],
    ]),
    coverage: coverageTable(tallies),
    power: powerTable(tallies),
    sizes: sizesTable(tallies),
    liars: liarsTable(lied),
  });
}

function coverageTable(tallies: readonly Tally[]): string {
  const of =
    (name: keyof Tally["covered"]) =>
    ({ covered, runs }: Tally): string =>
      `${((covered[name] / runs) * 100).toFixed(2)} %`;
  return tableOf(tallies, [
    ["scenario", ({ scenario }) => scenario.name],
    ["primary", of("primary")],
    ["gain", of("gain")],
    ["gain, not widened", of("plainGain")],
    ["local effect", of("local")],
    ["gain, for a fixed number", of("fixed")],
    ["reporting called different", ({ called, runs }) => percent(called.reportsDiffer / runs)],
  ]);
}

function powerTable(tallies: readonly Tally[]): string {
  const looks = [1000, 3000, CLIENTS].map((clients) => nearestLook(clients));
  const at = (tally: Tally, look: number): string => {
    const { gain = 0, claimed = 0 } = tally.shown[look] ?? {};
    return `${percent(gain / tally.runs)}, ${percent(claimed / tally.runs)}`;
  };
  return tableOf(tallies, [
    ["scenario", ({ scenario }) => scenario.name],
    ["planted, by assignment", ({ truth }) => truth.gain.toFixed(4)],
    ...looks.map((look): [string, (tally: Tally) => string] => [`after ${LOOKS[look]}`, (tally) => at(tally, look)]),
  ]);
}

function nearestLook(clients: number): number {
  const away = LOOKS.map((look) => Math.abs(Math.log(look / clients)));
  return away.indexOf(Math.min(...away));
}

function sizesTable(tallies: readonly Tally[]): string {
  const mean =
    (of: (last: Tally["last"]) => number) =>
    ({ last, runs }: Tally): string =>
      (of(last) / runs).toFixed(4);
  return tableOf(tallies, [
    ["scenario", ({ scenario }) => scenario.name],
    ["estimate less planted", mean(({ error }) => error)],
    ["interval, to one side", mean(({ reach }) => reach)],
    ["beside a fixed number's", ({ last }) => (last.reach / last.fixedReach).toFixed(3)],
    ["widened by", mean(({ widened }) => widened)],
    ["pages at a bound", ({ last, runs }) => percent(last.atBound / runs)],
    ["what 5 % of liars can do", mean(({ liesShift }) => liesShift)],
  ]);
}

function liarsTable(lied: readonly Lied[]): string {
  const looks = lied[0]?.looks.map(({ clients }) => clients) ?? [];
  return markdownTable(
    ["scenario", "lie", ...looks.map((clients) => `${clients} clients`), "at most, of the bound"],
    lied.map(({ scenario, lie, looks: all }) => [
      scenario,
      lie,
      ...all.map(({ runs, within, moved, reach }) =>
        runs === 0
          ? "-"
          : `${(moved / runs).toFixed(3)} of ${(reach / runs).toFixed(3)}${within === runs ? "" : `, ${percent(within / runs)} within`}`,
      ),
      Math.max(...all.map(({ mostOfBound }) => mostOfBound)).toFixed(2),
    ]),
  ).trimEnd();
}
