import { mean } from "../statistics/summary.ts";
import { percent } from "../tables/format.ts";
import { tableOf } from "../tables/table-of.ts";
import { fillFile } from "../tables/template.ts";
import type { Look } from "./learn-stack.ts";

/** What one site's visitors taught. Gains are means over page views. */
export interface Site {
  /** What the table gains that the bench has calibrated. */
  readonly calibrated: number;
  /** What the table of the other congestion control of TCP gains here. */
  readonly wrong: number;
  readonly fromNothing: readonly Look[];
  readonly fromWrong: readonly Look[];
}

/** One stack, at several sites. */
export interface Learnt {
  readonly stack: string;
  readonly sites: readonly Site[];
}

export interface LearningAbout {
  readonly command: string;
  readonly sites: number;
  readonly share: number;
  readonly visitsToAProposal: number;
}

/** What has to hold. */
const SHARE_OF_CALIBRATED = 0.8;
const COST_MAX = 0.005;
const REGRET_MAX = 0.05;
const WRONG_VISITS = 20_000;

export interface Verdict {
  readonly rule: string;
  readonly found: string;
  readonly holds: boolean;
}

export function verdictsOf(stacks: readonly Learnt[]): Verdict[] {
  const sites = stacks[0]?.sites.length ?? 0;
  const sum = (site: number, of: (one: Site) => number): number =>
    stacks.reduce((total, stack) => total + meanOf(stack.sites.slice(site, site + 1), of), 0);
  const each = Array.from({ length: sites }, (_, site) => {
    return { learnt: sum(site, (one) => last(one.fromNothing).gain), calibrated: sum(site, (one) => one.calibrated) };
  });
  const learnt = mean(each.map((one) => one.learnt));
  const calibrated = mean(each.map((one) => one.calibrated));
  const shares = each.map((one) => percent(one.learnt / one.calibrated));
  const costs = stacks.map((stack) => meanOf(stack.sites, ({ fromNothing }) => last(fromNothing).cost));
  const behind = stacks.map((stack) =>
    meanOf(stack.sites, (one) => one.calibrated - (lookAt(one.fromWrong, WRONG_VISITS)?.gain ?? 0)),
  );
  const visits = count(last(stacks[0]?.sites[0]?.fromNothing ?? []).visits);
  return [
    {
      rule: `from an empty table, after ${visits} visits at least ${percent(SHARE_OF_CALIBRATED)} of what the calibrated tables gain, summed over stacks`,
      found: `${learnt.toFixed(3)} of ${calibrated.toFixed(3)}, ${percent(learnt / calibrated)}; by site ${shares.join(", ")}`,
      holds: learnt >= SHARE_OF_CALIBRATED * calibrated,
    },
    {
      rule: `after as many visits draws have cost at most ${percent(COST_MAX)} of load time, in every stack`,
      found: `at most ${(100 * Math.max(...costs)).toFixed(2)} %`,
      holds: Math.max(...costs) <= COST_MAX,
    },
    {
      rule: `from the other congestion control's table, after ${count(WRONG_VISITS)} visits less than ${percent(REGRET_MAX)} behind the calibrated table, in every stack`,
      found: `at most ${percent(Math.max(...behind))}`,
      holds: behind.every((regret) => regret < REGRET_MAX),
    },
  ];
}

export function learningReport(stacks: readonly Learnt[], about: LearningAbout): string {
  const looks = stacks[0]?.sites[0]?.fromNothing ?? [];
  const table = (of: (one: Site) => readonly Look[], first: string, begins: (one: Site) => number): string =>
    tableOf(stacks, [
      ["stack", ({ stack }) => stack],
      ["calibrated", ({ sites }) => gain(meanOf(sites, ({ calibrated }) => calibrated))],
      [first, ({ sites }) => gain(meanOf(sites, begins))],
      ...looks.map((look, i): [string, (one: Learnt) => string] => [
        `${count(Math.floor(look.visits / 1_000) * 1_000)} visits`,
        ({ sites }) => gain(meanOf(sites, (one) => of(one)[i]?.gain ?? Number.NaN)),
      ]),
      ["draws cost, %", ({ sites }) => (100 * meanOf(sites, (one) => last(of(one)).cost)).toFixed(2)],
    ]);
  return fillFile("bench/analysis/learning/report.md", {
    command: about.command,
    sites: about.sites,
    share: percent(about.share),
    visitsToAProposal: count(about.visitsToAProposal),
    verdicts: verdictsOf(stacks)
      .map(({ rule, found, holds }) => `- ${holds ? "Holds" : "**Does not hold**"}: ${rule} (${found}).`)
      .join("\n"),
    fromNothing: table(
      ({ fromNothing }) => fromNothing,
      "nothing offered",
      () => 0,
    ),
    fromWrong: table(
      ({ fromWrong }) => fromWrong,
      "as it began",
      ({ wrong }) => wrong,
    ),
  });
}

function meanOf(sites: readonly Site[], of: (one: Site) => number): number {
  return mean(sites.map(of));
}

function lookAt(looks: readonly Look[], visits: number): Look | undefined {
  return looks.find((look) => look.visits >= visits);
}

function last(looks: readonly Look[]): Look {
  const look = looks.at(-1);
  if (look === undefined) throw new Error("nobody looked");
  return look;
}

function gain(value: number): string {
  return value.toFixed(3).replace(/^-(?=0\.000$)/, "");
}

function count(visits: number): string {
  return visits.toLocaleString("en");
}
