import type { TopLevelSpec } from "vega-lite";
import type { Lever } from "../../model/levers.ts";
import { figures, names } from "../charts/theme.ts";
import type { Interval } from "../statistics/bootstrap.ts";
import { number } from "../tables/format.ts";
import { tableOf } from "../tables/table-of.ts";
import { type Gain, type Kind, KINDS, leverGains, type LeverGains, type MeasuredPlace, pickedTcp } from "./gains.ts";

/** For whom: parts of the places that an operator can tell from one another. */
const GROUPS: readonly (readonly [name: string, holds: (place: MeasuredPlace) => boolean])[] = [
  ["no loss", ({ lossRatio }) => lossRatio === 0],
  ["with loss", ({ lossRatio }) => lossRatio > 0],
  ["RTT below 50 ms", ({ rttMs }) => rttMs < 50],
  ["RTT of 50 ms and more", ({ rttMs }) => rttMs >= 50],
];

/** What every lever gains: over all places, and for whom. */
export function leversSummary(places: readonly MeasuredPlace[], levers: readonly Lever[], seed: number) {
  return {
    all: leverGains(places, levers, seed),
    tcp: pickedTcp(places, levers, seed),
    groups: GROUPS.map(([name, holds]) => ({ name, levers: leverGains(places.filter(holds), levers, seed) })),
  };
}

export type LeversSummary = ReturnType<typeof leversSummary>;

const KIND_TITLES: Readonly<Record<Kind, string>> = { first: "first page", later: "later page", return: "return" };

/** The report's tables and its picture. */
export function leversValues({ all, tcp, groups }: LeversSummary) {
  return {
    places: String(all[0]?.places ?? 0),
    gains: tableOf(all, [
      ["", ({ lever }) => lever],
      ...KINDS.flatMap((kind): [string, (row: LeverGains) => string][] => [
        [KIND_TITLES[kind], ({ gains }) => interval(gains[kind].mean)],
        ["p50, p75, p95", ({ gains }) => quantiles(gains[kind])],
      ]),
    ]),
    groups: tableOf(
      groups.flatMap(({ name, levers }) => levers.map((row) => ({ name, ...row }))),
      [
        ["", ({ name, places }) => `${name} (${places})`],
        ["lever", ({ lever }) => lever],
        ...KINDS.map((kind): [string, (row: LeverGains) => string] => [
          KIND_TITLES[kind],
          ({ gains }) => interval(gains[kind].mean),
        ]),
      ],
    ),
    tcp: tableOf(tcp, [
      ["", ({ kind }) => KIND_TITLES[kind]],
      ["the best TCP for all", ({ best }) => best],
      ["the best for each gains more by", ({ more }) => interval(more.mean)],
      ["by over 3 % for", ({ over }) => String(over)],
    ]),
  };
}

/** Gains as marks with intervals: a panel for each kind of page, a line for each lever. */
export function leversPicture({ all }: LeversSummary, about: string): TopLevelSpec {
  const levers = all.map(({ lever }) => lever);
  const values = all.flatMap(({ lever, gains }) =>
    KINDS.map((kind) => ({
      lever,
      kind: KIND_TITLES[kind],
      gain: gains[kind].mean.estimate,
      low: gains[kind].mean.low,
      high: gains[kind].mean.high,
    })),
  );
  // Widths of texts are estimated, as 0.8 em a letter: the longest name would be cut.
  const y = names("lever", { title: null, sort: levers, axis: { labelLimit: 400 } });
  return {
    title: {
      text: "What each lever gains over HTTP/2 with cubic",
      subtitle: [
        about,
        "ln(time with cubic / time): 0.1 is about 10 % less time, 0.69 half of it. Lines: 95 % intervals.",
      ],
    },
    data: { values },
    facet: { column: { field: "kind", type: "nominal", sort: Object.values(KIND_TITLES), title: null } },
    spec: {
      width: 190,
      height: 260,
      encoding: { y },
      layer: [
        { mark: { type: "rule" }, encoding: { x: figures("low", { title: "gain" }), x2: { field: "high" } } },
        { mark: { type: "point", filled: true, size: 50 }, encoding: { x: figures("gain", { title: "gain" }) } },
      ],
    },
  };
}

/** `0.68 (0.53 to 0.85)`; below 0 too. */
function interval({ estimate, low, high }: Interval): string {
  return `${number(estimate)} (${number(low)} to ${number(high)})`;
}

function quantiles({ p50, p75, p95 }: Gain): string {
  return [p50, p75, p95].map(number).join(", ");
}
