import { percentileInterval, type Interval } from "../../analysis/statistics/bootstrap.ts";
import { integer, type Random, seededRandom } from "../../analysis/statistics/random.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import { number, percent, percentWithInterval } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Recorded, Report } from "../../harness/experiment.ts";
import { lastDay, machineText } from "../../harness/machine-text.ts";
import type { Congestion } from "../../model/congestion.ts";
import { type ChangedRow, CONGESTION, EXPLORED, NETWORKS, type Part } from "./settings.ts";

const RESAMPLES = 2_000;
/** Of one network and arm: fewer say nothing. */
const VISITS_MIN = 3;
/** What the last policy may cost. */
const REGRET_MAX = 0.05;

/** The visits of one network under one congestion control, ms of the pages after the first, by who chose the answer. */
interface Place {
  readonly network: string;
  readonly congestion: Congestion;
  readonly offered: readonly number[];
  readonly withheld: readonly number[];
}

export function changedSummary(
  { rows, command, starts }: Pick<Recorded<unknown, ChangedRow>, "rows" | "command" | "starts">,
  seed: number,
) {
  const visits = rows.filter(({ kind }) => kind === "visit");
  const good = visits.filter(({ outcome, arm }) => outcome === "ok" && arm !== "");
  const places = (["cubic", "bbr"] as const).flatMap((congestion) =>
    NETWORKS.map(({ name }): Place => {
      const of = (arm: ChangedRow["arm"]): number[] =>
        good
          .filter((row) => row.network === name && row.arm === arm && CONGESTION[row.part] === congestion)
          .map(laterMs);
      return { network: name, congestion, offered: of("offer"), withheld: of("withhold") };
    }),
  );
  const said = rows.filter(({ kind }) => kind === "autopilot");
  const rounds = said.map(({ part, round, day, said: words }) => {
    const own = good.filter((row) => row.round === round);
    const following = own.filter(({ arm }) => arm === "policy");
    const [version] =
      [...Map.groupBy(own, (row) => row.version)].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? [];
    const random = seededRandom(seed, "changed-server", round);
    return {
      part,
      round,
      day,
      visits: own.length,
      reports: own.reduce((sum, { reports }) => sum + (reports ?? 0), 0),
      /** That most visits had. */
      version: version ?? undefined,
      versions: new Set(own.map((row) => row.version)).size,
      following: following.length,
      regret: regretOf(following, places, CONGESTION[part], random),
      said: words,
    };
  });
  return {
    command,
    day: lastDay(rows),
    starts,
    visits: visits.length,
    failed: visits.length - good.length,
    places: places.map(({ network, congestion, offered, withheld }) => ({
      network,
      congestion,
      n: [offered.length, withheld.length],
      offeredMs: offered.length === 0 ? undefined : mean(offered),
      withheldMs: withheld.length === 0 ? undefined : mean(withheld),
    })),
    rounds,
    ...changesOf(rounds, good, places, seed),
    audit: rows.filter(({ kind }) => kind === "audit").map(({ said: words }) => words),
  };
}

type Summary = ReturnType<typeof changedSummary>;

/** What was done, when, and what the policies before and after it cost. */
function changesOf(
  rounds: readonly Pick<ChangedRow, "part" | "round" | "day" | "said">[],
  visits: readonly ChangedRow[],
  places: readonly Place[],
  seed: number,
) {
  const first = (part: Part, pattern: RegExp) => rounds.find((one) => one.part === part && pattern.test(one.said));
  const changed = rounds.find(({ part }) => part === "after");
  const noticed = first("after", /^Done: it (?:begins version \d+ anew|takes back )/);
  const tried = first("after", /^Done: it tries /);
  // What is taken back is taken from everyone.
  const settled = first("after", /^Done: it (?:gives version \d+ to everyone|takes back )/);
  const harmfulSince = rounds.find(({ part }) => part === "harmful");
  const takenBack = first("harmful", /^Done: it takes back /);
  const regret = (name: string, isOf: (row: ChangedRow) => boolean) =>
    regretOf(
      visits.filter((row) => row.arm === "policy" && isOf(row)),
      places,
      "bbr",
      seededRandom(seed, "changed-server", name),
    );
  return {
    changedDay: changed?.day,
    noticedDay: noticed?.day,
    triedDay: tried?.day,
    settledDay: settled?.day,
    harmfulDay: harmfulSince?.day,
    takenBackDay: takenBack?.day,
    regretBefore: noticed && regret("before", ({ part, round }) => part === "after" && round <= noticed.round),
    regretAfter: settled && regret("after", ({ part, round }) => part === "after" && round > settled.round),
    regretHarmful: harmfulSince && regret("harmful", ({ part }) => part === "harmful"),
  };
}

/**
 * How much longer the pages after the first took those who follow the policy than the better of those who were drawn to be
 * offered and those who were not: the mean over networks. Which draw is the better one is taken as known.
 */
function regretOf(
  following: readonly ChangedRow[],
  places: readonly Place[],
  congestion: Congestion,
  random: Random,
): Interval | undefined {
  const networks = places
    .filter((place) => place.congestion === congestion)
    .map(({ network, offered, withheld }) => {
      const own = following.filter((row) => row.network === network).map(laterMs);
      if (Math.min(own.length, offered.length, withheld.length) < VISITS_MIN) return undefined;
      return { own, better: mean(offered) < mean(withheld) ? offered : withheld };
    });
  const known = networks.flatMap((network) => network ?? []);
  if (known.length < NETWORKS.length) return undefined;
  const over = (of: (values: readonly number[]) => readonly number[]): number =>
    mean(known.map(({ own, better }) => mean(of(own)) / mean(of(better)) - 1));
  const again = (values: readonly number[]): number[] => values.map(() => values[integer(values.length, random)] ?? 0);
  return percentileInterval(
    over((values) => values),
    Array.from({ length: RESAMPLES }, () => over(again)),
  );
}

/** The pages that the first one's answer acts on. */
function laterMs({ pagesMs }: ChangedRow): number {
  return pagesMs
    .split(";")
    .slice(1)
    .reduce((sum, ms) => sum + Number(ms), 0);
}

export function changedReport(summary: Summary): Report {
  const { command, day, starts, visits, failed, places, rounds, audit } = summary;
  return {
    values: {
      command,
      day,
      machine: machineText(starts),
      visits,
      failed,
      explored: percent(EXPLORED),
      found: changedLines(summary)
        .map((line) => `- ${line}`)
        .join("\n"),
      rounds: tableOf(rounds, [
        ["day", ({ day: at }) => String(at)],
        ["server's TCP", ({ part }) => CONGESTION[part]],
        ["visits", ({ visits: n }) => String(n)],
        ["version", ({ version, versions }) => `${version ?? "-"}${versions > 1 ? ", and another" : ""}`],
        ["follow it", ({ following }) => String(following)],
        ["regret", ({ regret }) => percentWithInterval(regret)],
        ["the autopilot", ({ said }) => said.replace(/^Done: it /, "").replace(/^Nothing to do: /, "nothing: ")],
      ]),
      networks: tableOf(places, [
        ["network", ({ network }) => network],
        ["server's TCP", ({ congestion }) => congestion],
        ["n", ({ n }) => n.join(", ")],
        ["offered ms", ({ offeredMs }) => number(offeredMs)],
        ["not offered ms", ({ withheldMs }) => number(withheldMs)],
      ]),
      audit: audit.map((entry) => `1. ${entry}`).join("\n"),
      regretMax: percent(REGRET_MAX),
    },
  };
}

/** What happened, a sentence each; what did not happen says so. */
export function changedLines(summary: Summary): string[] {
  const { changedDay, noticedDay, triedDay, settledDay, harmfulDay, takenBackDay } = summary;
  const { regretBefore, regretAfter, regretHarmful } = summary;
  const after = (day: number | undefined, since: number | undefined): string =>
    day === undefined || since === undefined ? "**not in this run**" : `${day - since + 1} days`;
  const isKept = regretAfter !== undefined && regretAfter.estimate < REGRET_MAX;
  return [
    `The change was acted on within ${after(noticedDay, changedDay)}. Until then the policy cost ${percentWithInterval(regretBefore)}.`,
    `Another policy was tried within ${after(triedDay, changedDay)}. Everyone had another one within ${after(settledDay, changedDay)}.`,
    `From then on the policy cost ${percentWithInterval(regretAfter)}; ${isKept ? "under" : "**not shown to be under**"} ${percent(REGRET_MAX)}.`,
    `A harmful policy, put in force by hand, was taken back within ${after(takenBackDay, harmfulDay)}. It cost ${percentWithInterval(regretHarmful)}.`,
  ];
}
