import type { TopLevelSpec } from "vega-lite";
import { ratioPanels } from "../../analysis/charts/ratio-panels.ts";
import { ARM_STYLES, look } from "../../analysis/charts/theme.ts";
import { type Interval, percentileInterval } from "../../analysis/statistics/bootstrap.ts";
import { type Random, resampled, seededRandom } from "../../analysis/statistics/random.ts";
import { mean, median } from "../../analysis/statistics/summary.ts";
import { percent } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Recorded, Report } from "../../harness/experiment.ts";
import { onceEach, runValues, summaryHead } from "../../harness/machine.ts";
import { PAGE_TIMEOUT_MS } from "../../model/browser-pages.ts";
import { type BrowserClient, CALIBRATING_DRAWS } from "../../model/clients.ts";
import { float, optionalFloat, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";
import { BROWSER_COLUMNS } from "../../model/visit-row.ts";

export const ARMS = ["fixed-h2", "always-offer", "adaptive"] as const;
type Arm = (typeof ARMS)[number];
/** Three of a visit, and a return. */
export const PAGES = 4;

/** One page of a visit: its id names client, arm, visit and page. */
export const CLIENTS_ROW = {
  ...BROWSER_COLUMNS,
  client: string(),
  arm: string<Arm>(),
  /** From 1; the last one is the return. */
  page: float,
  /** Of its files, the share over HTTP/3. */
  filesH3: optionalFloat,
} as const satisfies RowSchema;
export type ClientsRow = RowOf<typeof CLIENTS_ROW>;

const RESAMPLES = 2_000;
/** With whose pages the shipped policy was made. */
const MADE = {
  here: "The shipped policy was made with these pages too, so they do not judge it; ours is the policy of before.",
  elsewhere: "The shipped policy was made with other clients' pages.",
} as const;
/**
 * The simplest rival: HTTP/3 for everybody with such an RTT or a longer one. Of 0, 40 to 60, 80, 100 and 120 ms it gained most among the
 * clients by whom the policy was made.
 */
export const RIVAL_RTT_MS = 50;

/** A client, and what an arm gained on each of its pages: ln(never's time / the arm's), the mean over its visits. */
interface Measured {
  readonly client: BrowserClient;
  /** Of its packets, the share that left the path over 1 ms late: the mean over its pages. */
  readonly late: number;
  readonly gains: Readonly<Record<Arm, readonly number[]>>;
}

/** A client counts with what every arm has of it. A page that did not load counts with what it may take. */
function measuredOf(clients: readonly BrowserClient[], rows: readonly ClientsRow[]): Measured[] {
  const own = Map.groupBy(rows, ({ client }) => client);
  return clients.flatMap((client) => {
    const of = own.get(client.name) ?? [];
    const [never, always, ours] = ARMS.map((arm) => logTimesOf(of.filter((row) => row.arm === arm)));
    if (never === undefined || always === undefined || ours === undefined) return [];
    const over = (times: readonly number[]): number[] => never.map((time, page) => time - (times[page] ?? Number.NaN));
    return {
      client,
      late: mean(of.map(({ lateRatio }) => lateRatio ?? 0)),
      gains: { "fixed-h2": over(never), "always-offer": over(always), adaptive: over(ours) },
    };
  });
}

/** Of each page of a visit, the mean of its logarithms; undefined where one was never asked for. */
function logTimesOf(rows: readonly ClientsRow[]): number[] | undefined {
  const pages = Array.from({ length: PAGES }, (_, i) => rows.filter(({ page }) => page === i + 1));
  if (pages.some(({ length }) => length === 0)) return undefined;
  return pages.map((own) => mean(own.map(({ loadMs }) => Math.log(loadMs ?? PAGE_TIMEOUT_MS))));
}

/** What a page of a client gains by something that decides; the mean over its pages where none is asked for. */
type GainOf = (measured: Measured, page?: number) => number;

function gainBy(arm: Arm): GainOf {
  return ({ gains }, page) => (page === undefined ? mean(gains[arm]) : (gains[arm][page] ?? Number.NaN));
}
const always = gainBy("always-offer");
const ours = gainBy("adaptive");
/** The rival needs no visits of its own: it does what always does, or what never does. */
const rival: GainOf = (one, page) => (one.client.rttMs >= RIVAL_RTT_MS ? always(one, page) : 0);

type Is = (measured: Measured) => boolean;

const isPoliced: Is = ({ client: { udpLossRatio } }) => udpLossRatio > 0 && udpLossRatio < 1;
const isOver200: Is = ({ client: { rateMbps } }) => rateMbps > 200;

/** Of all visitors, those of a kind are such a share; among them, and among the others, clients weigh as before. */
const mixesOf = (lateMedian: number): readonly (readonly [name: string, kind: Is, share: number | undefined])[] => [
  ["as described", () => true, undefined],
  ["half on slow devices", ({ client: { device } }) => device !== "fast", 0.5],
  ["half in Firefox", ({ client: { browser } }) => browser === "firefox", 0.5],
  ["a fifth above 200 Mbit/s", isOver200, 0.2],
  ["no policed UDP", isPoliced, 0],
  ["the half with the fewest late packets", ({ late }) => late > lateMedian, 0],
];

/** The first that fits. */
const NETWORKS: readonly (readonly [name: string, is: Is])[] = [
  ["UDP policed", isPoliced],
  ["UDP blocked", ({ client: { udpLossRatio } }) => udpLossRatio === 1],
  ["0.1 % lost or more", ({ client: { lossRatio } }) => lossRatio >= 0.001],
  ["RTT of 100 ms or more", ({ client: { rttMs } }) => rttMs >= 100],
  ["above 200 Mbit/s", isOver200],
  ["100 to 200 Mbit/s", ({ client: { rateMbps } }) => rateMbps >= 100],
  ["other networks", () => true],
];

const networkOf = (one: Measured): string => NETWORKS.find(([, is]) => is(one))?.[0] ?? "";
const BROWSER_NAMES = { chromium: "Chromium", firefox: "Firefox" } as const;
const deviceOf = ({ client: { browser, device } }: Measured): string => `${BROWSER_NAMES[browser]}, ${device}`;

/** A client with what it weighs in a mix. */
type Weighed = Measured & { readonly weight: number };

/** Whether there are clients of a kind, and others. */
function isMixed(measured: readonly Measured[], kind: Is): boolean {
  return new Set(measured.map(kind)).size === 2;
}

function weighed(measured: readonly Measured[], kind: Is, share: number | undefined): Weighed[] {
  const sumOf = (own: readonly Measured[]): number => own.reduce((sum, { client: { weight } }) => sum + weight, 0);
  const total = sumOf(measured);
  const inside = sumOf(measured.filter(kind));
  return measured.map((one) => {
    const isInside = kind(one);
    const factor =
      share === undefined ? 1 : isInside ? (share * total) / inside : ((1 - share) * total) / (total - inside);
    return { ...one, weight: one.client.weight * factor };
  });
}

/** The mean over page views, each as often as its client visits. */
function meanOf(clients: readonly Weighed[], gain: GainOf, page?: number): number {
  const total = clients.reduce((sum, { weight }) => sum + weight, 0);
  return clients.reduce((sum, one) => sum + one.weight * gain(one, page), 0) / total;
}

/** Intervals are over clients. */
function intervalOf(clients: readonly Weighed[], gain: GainOf, random: Random, page?: number): Interval {
  const drawn = Array.from({ length: RESAMPLES }, () => meanOf(resampled(clients, random), gain, page));
  return percentileInterval(meanOf(clients, gain, page), drawn);
}

/** By how much one gains more than another. */
function ahead(one: GainOf, other: GainOf): GainOf {
  return (measured, page) => one(measured, page) - other(measured, page);
}

export function clientsSummary(
  recorded: Pick<Recorded<unknown, ClientsRow>, "rows" | "command" | "starts">,
  clients: readonly BrowserClient[],
  { seed, draw }: { readonly seed: number; readonly draw: number },
) {
  const rows = onceEach(recorded.rows);
  const measured = measuredOf(clients, rows);
  const described = weighed(measured, () => true, undefined);
  const total = described.reduce((sum, { weight }) => sum + weight, 0);
  const lateMedian = median(measured.map(({ late }) => late));
  const over = (own: readonly Weighed[], gain: GainOf, name: readonly string[], page?: number): Interval =>
    intervalOf(own, gain, seededRandom(seed, "browser-clients", ...name), page);
  return {
    ...summaryHead(recorded, rows),
    draw,
    clients: measured.length,
    lateMedian,
    mixes: mixesOf(lateMedian)
      .filter(([, kind, share]) => share === undefined || isMixed(measured, kind))
      .map(([mix, kind, share]) => {
        const own = weighed(measured, kind, share);
        // Chosen by these same rows.
        const bit: Arm = meanOf(own, always) > 0 ? "always-offer" : "fixed-h2";
        return {
          mix,
          bit,
          always: over(own, always, [mix, "always"]),
          ours: over(own, ours, [mix, "ours"]),
          rival: over(own, rival, [mix, "rival"]),
          aheadOfAlways: over(own, ahead(ours, always), [mix, "ahead"]),
          aheadOfBit: over(own, ahead(ours, gainBy(bit)), [mix, "bit"]),
          aheadOfRival: over(own, ahead(ours, rival), [mix, "ahead of the rival"]),
        };
      }),
    pages: Array.from({ length: PAGES }, (_, page) => ({
      always: over(described, always, [String(page), "always"], page),
      ours: over(described, ours, [String(page), "ours"], page),
    })),
    groups: [networkOf, deviceOf].flatMap((nameOf) =>
      [...Map.groupBy(described, nameOf)].sort(byPlace).map(([name, own]) => ({
        name,
        clients: own.length,
        share: own.reduce((sum, { weight }) => sum + weight, 0) / total,
        always: over(own, always, [name, "always"]),
        ours: over(own, ours, [name, "ours"]),
        ahead: over(own, ahead(ours, always), [name, "ahead"]),
      })),
    ),
  };
}

/** Networks as they are listed, all others by name. */
function byPlace([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  const at = (name: string): number => NETWORKS.findIndex(([listed]) => listed === name);
  return at(a) - at(b) || a.localeCompare(b);
}

type Summary = ReturnType<typeof clientsSummary>;

export function clientsReport(summary: Summary): Report {
  const { draw, clients, lateMedian, mixes, pages, groups, starts } = summary;
  const tools = starts.at(-1)?.tools;
  return {
    values: {
      ...runValues(summary),
      day: summary.day,
      rows: summary.rows,
      failures: summary.failures,
      timeouts: summary.timeouts,
      chromium: String(tools?.["chromium"]),
      firefox: String(tools?.["firefox"]),
      clients,
      rivalMs: RIVAL_RTT_MS,
      made: MADE[CALIBRATING_DRAWS.includes(draw) ? "here" : "elsewhere"],
      late: percent(lateMedian),
      mixes: tableOf(mixes, [
        ["visitors", ({ mix }) => mix],
        ["always", (one) => figure(one.always)],
        ["ours", (one) => figure(one.ours)],
        ["ours gains more than always", ({ aheadOfAlways }) => figure(aheadOfAlways)],
        ["one bit is", ({ bit }) => (bit === "always-offer" ? "always" : "never")],
        ["ours gains more than one bit", ({ aheadOfBit }) => figure(aheadOfBit)],
        [`from ${RIVAL_RTT_MS} ms on`, (mix) => figure(mix.rival)],
        ["ours gains more than that", ({ aheadOfRival }) => figure(aheadOfRival)],
      ]),
      pages: tableOf(
        pages.map((page, i) => ({ ...page, name: i === PAGES - 1 ? "the return" : `page ${i + 1}` })),
        [
          ["", ({ name }) => name],
          ["always", (one) => figure(one.always)],
          ["ours", (one) => figure(one.ours)],
        ],
      ),
      groups: tableOf(groups, [
        ["clients", ({ name }) => name],
        ["measured", ({ clients: count }) => String(count)],
        ["of all visitors", ({ share }) => percent(share)],
        ["always", (one) => figure(one.always)],
        ["ours", (one) => figure(one.ours)],
        ["ours gains more than always", (one) => figure(one.ahead)],
      ]),
    },
    pictures: [{ file: "browser-clients.svg", spec: pictureOf(groups) }],
  };
}

/** `0.068 (0.053 to 0.085)`; below 0 too. */
function figure({ estimate, low, high }: Interval): string {
  return `${estimate.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`;
}

/** Always and ours beside never, for each kind of client. */
function pictureOf(groups: Summary["groups"]): TopLevelSpec {
  const panel = "four pages of a client whom nobody knows";
  const values = groups.flatMap(({ name, ...gains }) =>
    (
      [
        ["always-offer", gains.always],
        ["adaptive", gains.ours],
      ] as const
    ).map(([arm, { estimate, low, high }]) => ({
      panel,
      name,
      arm,
      estimate: Math.exp(-estimate),
      low: Math.exp(-high),
      high: Math.exp(-low),
    })),
  );
  return ratioPanels({
    title: {
      text: "HTTP/3 offered to everybody, and by us, beside never",
      subtitle: ["Geometric mean of page times. Below 1 it is faster. Lines: 95 % intervals over clients."],
    },
    values,
    ratio: "time, of never's",
    panel: { field: "panel", sort: [panel] },
    row: { field: "name", sort: groups.map(({ name }) => name) },
    series: look("arm", [ARM_STYLES["always-offer"], ARM_STYLES.adaptive], { title: null }),
  });
}
