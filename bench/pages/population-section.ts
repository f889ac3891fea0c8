import { ONE_BIT, ONE_BIT_BRIEFLY, ORACLE, OURS, SAME_SIGHT, type Score } from "../analysis/population/judge.ts";
import { interval, type PopulationSummary } from "../analysis/population/report.ts";
import { percent } from "../analysis/tables/format.ts";
import { tableOf } from "../analysis/tables/table-of.ts";
import { known } from "./recorded.ts";

const ASKED = [
  ["one visit", "One visit, by a client that nobody has seen"],
  ["with returns", "A visit and up to two returns"],
  ["on Cloudflare", "The same with Cloudflare's inputs: RTT, and no packets counted"],
] as const;

const SHOWN = [
  "never",
  "always",
  ONE_BIT,
  ONE_BIT_BRIEFLY,
  "the published line",
  "FlexHTTP's forest",
  OURS,
  "ours, offers of a day at most",
  SAME_SIGHT,
  ORACLE,
];

export function populationValues({ command, clients, loads, judged }: PopulationSummary) {
  const scores = (about: string): readonly Score[] =>
    known(
      judged.find((one) => one.about === about),
      about,
    ).summed;
  const scoreOf = (about: string, contender: string): Score =>
    known(
      scores(about).find((one) => one.contender === contender),
      contender,
    );
  const abouts: readonly string[] = ASKED.map(([, about]) => about);
  return {
    command,
    clients,
    loads,
    gains: tableOf(SHOWN, [
      ["", (contender) => contender],
      ...ASKED.map(([name, about]): [string, (contender: string) => string] => [
        name,
        (contender) => interval(scoreOf(about, contender).gain),
      ]),
    ]),
    gain: (asked: number, contender: string) => scoreOf(abouts[asked] ?? "", contender).gain.estimate.toFixed(3),
    p75: (asked: number, contender: string) => scoreOf(abouts[asked] ?? "", contender).p75WhereFaster.toFixed(3),
    /** With returns: the time that is saved, on average over the stacks. */
    less: (contender: string) => {
      const { stacks } = known(
        judged.find((one) => one.about === abouts[1]),
        "returns",
      );
      return percent(1 - Math.exp(-scoreOf(abouts[1] ?? "", contender).gain.estimate / stacks.length));
    },
    /** By how much ours gains more than one bit whose offers live no longer. */
    ahead: (asked: number) => interval(scoreOf(abouts[asked] ?? "", ONE_BIT_BRIEFLY).oursAhead),
  };
}
