import type { TopLevelSpec } from "vega-lite";
import { ratioPanels } from "../../analysis/charts/ratio-panels.ts";
import { ARM_STYLES, look } from "../../analysis/charts/theme.ts";
import { ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { mean, median } from "../../analysis/statistics/summary.ts";
import { number, withInterval } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Recorded, Report } from "../../harness/experiment.ts";
import { onceEach, runValues, summaryHead } from "../../harness/machine.ts";
import { BROWSERS, type BrowserName } from "../../harness/visits.ts";
import type { BrowserPage } from "../../model/browser-pages.ts";
import { type Network, QUEUE_BYTES } from "../../model/cell.ts";
import { type Device, DEVICES } from "../../model/devices.ts";
import { float, optionalFloat, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";
import { BROWSER_COLUMNS } from "../../model/visit-row.ts";

/** Each browser on every device; Firefox with its race alone on the fast one. */
export const CLIENTS: readonly { readonly browser: BrowserName; readonly device: Device }[] = [
  ...(["chromium", "firefox"] as const).flatMap((browser) =>
    (Object.keys(DEVICES) as Device[]).map((device) => ({ browser, device })),
  ),
  { browser: "firefox-racing", device: "fast" },
];
/** What ours is held against: never; and always, or where UDP is policed ours without a rehearsal. */
export const ARMS = ["fixed-h2", "always-offer", "adaptive"] as const;
export const POLICED_ARMS = ["fixed-h2", "unrehearsed", "adaptive"] as const;
/** Always, with the edge's slow start, is held against never, and against itself with quic-go's. */
export const HYSTART_ARMS = ["fixed-h2", "own-start", "always-offer"] as const;
const OTHERS = {
  "always-offer": { title: "always", subject: "adaptive", subjectTitle: "ours" },
  unrehearsed: { title: "without a rehearsal", subject: "adaptive", subjectTitle: "ours" },
  "own-start": { title: "with quic-go's slow start", subject: "always-offer", subjectTitle: "with RFC 9406" },
} as const;
export const PAGES = 4;

export interface Place {
  readonly network: Network;
  readonly page: BrowserPage;
}

function place(rateMbps: number, rttMs: number, page: BrowserPage): Place {
  const name = `${rateMbps} Mbit/s, ${rttMs} ms`;
  return { network: { name, rateMbps, delayMs: rttMs / 2, lossRatio: 0, queueBytes: QUEUE_BYTES }, page };
}

/** Ours offers nothing to strangers at 30 ms: there would be nothing to notice. */
const OFFERED_MS = 60;

/** A line of 50 Mbit/s, treated otherwise. */
function treated(name: string, treatment: Partial<Network>, rttMs = OFFERED_MS): Place {
  const { network, page } = place(50, rttMs, "page");
  return { network: { ...network, ...treatment, name }, page };
}

/** Fast lines, where HTTP/2 is expected to be faster; a usual one; a distant one. */
export const NETWORKS: readonly Place[] = [
  place(500, 4, "images"),
  place(200, 24, "page"),
  place(50, 30, "page"),
  place(50, 150, "page"),
];

/** Networks that police UDP; and four where QUIC may lose packets by its own doing, or none. */
export const POLICED: readonly Place[] = [
  treated("2 % of UDP lost", { udpLossRatio: 0.02 }),
  treated("8 % of UDP lost", { udpLossRatio: 0.08 }),
  treated("20 % of UDP lost", { udpLossRatio: 0.2 }),
  treated("UDP held to 5 Mbit/s", { udpRateMbps: 5, udpBurstBytes: 50_000 }),
  treated("a short queue", { queueBytes: 60_000 }),
  treated("a short queue, 100 ms", { queueBytes: 60_000 }, 100),
  treated("nothing policed", {}),
  // A page is on its way there for long after the server has written it.
  place(17, 150, "page"),
];

/** On slow devices, whose packets of QUIC wait for the browser; and a queue that a slow start soon overflows. */
export const HYSTART: readonly Place[] = [...NETWORKS, treated("a short queue", { queueBytes: 60_000 }, 30)];

/** One page of a visit: its id names network, browser, device, arm, visit and page. */
export const BROWSERS_ROW = {
  ...BROWSER_COLUMNS,
  network: string(),
  browser: string<BrowserName>(),
  device: string<Device>(),
  arm: string<(typeof ARMS | typeof POLICED_ARMS | typeof HYSTART_ARMS)[number]>(),
  /** From 1. */
  page: float,
  /** Of its files, the share over HTTP/3. */
  filesH3: optionalFloat,
} as const satisfies RowSchema;
export type BrowsersRow = RowOf<typeof BROWSERS_ROW>;

type Arm = BrowsersRow["arm"];

function isOf({ browser, device }: (typeof CLIENTS)[number], row: BrowsersRow): boolean {
  return row.browser === browser && row.device === device;
}

/** The mean of these pages of each visit that has them all, milliseconds. */
function timesOf(rows: readonly BrowsersRow[], from: number, to: number = PAGES): number[] {
  return [...Map.groupBy(rows, ({ visit }) => visit).values()].flatMap((visit) => {
    const times = visit.flatMap(({ page, loadMs }) => (page >= from && page <= to ? (loadMs ?? []) : []));
    return times.length === to + 1 - from ? [mean(times)] : [];
  });
}

export function browsersSummary(
  recorded: Pick<Recorded<unknown, BrowsersRow>, "rows" | "command" | "starts">,
  networks: readonly Place[],
  seed: number,
) {
  const rows = onceEach(recorded.rows);
  const other: keyof typeof OTHERS =
    (["unrehearsed", "own-start"] as const).find((one) => rows.some(({ arm }) => arm === one)) ?? "always-offer";
  const { subject } = OTHERS[other];
  const arms = ["fixed-h2", other, subject] as const;
  const own = Map.groupBy(rows, ({ network, browser, device, arm }) => [network, browser, device, arm].join());
  const groups = CLIENTS.filter((client) => rows.some((row) => isOf(client, row))).flatMap(({ browser, device }) =>
    networks.map(({ network: { name: network } }) => {
      const of = (arm: Arm): readonly BrowsersRow[] => own.get([network, browser, device, arm].join()) ?? [];
      const ratio = (arm: Arm, beside: Arm, from: number, to?: number) =>
        ratioOfMeansInterval(timesOf(of(arm), from, to), timesOf(of(beside), from, to), {
          random: seededRandom(
            seed,
            "browsers",
            network,
            browser,
            device,
            arm,
            to === undefined ? String(from) : `${from} to ${to}`,
          ),
        });
      const shares = (arm: Arm): number[] =>
        Array.from({ length: PAGES }, (_, i) =>
          mean(of(arm).flatMap(({ page, filesH3 }) => (page === i + 1 ? (filesH3 ?? []) : []))),
        );
      return {
        browser,
        device,
        network,
        n: arms.map((arm) => timesOf(of(arm), 1).length),
        ms: Object.fromEntries(arms.map((arm) => [arm, mean(timesOf(of(arm), 1))])),
        slowest: Object.fromEntries(
          arms.map((arm) => [arm, Math.max(...of(arm).flatMap(({ loadMs }) => loadMs ?? []))]),
        ),
        busy: median(arms.flatMap((arm) => of(arm).flatMap(({ busyRatio }) => busyRatio ?? []))),
        /** Over never: of all pages, of the one that brings an offer, and of those after it. */
        oursAll: ratio(subject, "fixed-h2", 1),
        oursFirst: ratio(subject, "fixed-h2", 1, 1),
        otherFirst: ratio(other, "fixed-h2", 1, 1),
        oursLater: ratio(subject, "fixed-h2", 2),
        otherLater: ratio(other, "fixed-h2", 2),
        oursOverOther: ratio(subject, other, 2),
        overH3: { other: shares(other), ours: shares(subject) },
      };
    }),
  );
  return { ...summaryHead(recorded, rows), congestion: rows[0]?.congestion ?? "", other, groups };
}

type Summary = ReturnType<typeof browsersSummary>;

export function browsersReport(summary: Summary): Report {
  const { groups, starts, congestion, other } = summary;
  const { title, subject, subjectTitle } = OTHERS[other];
  const tools = starts.at(-1)?.tools;
  const percents = (shares: readonly number[]): string => shares.map((share) => (100 * share).toFixed(0)).join(", ");
  return {
    values: {
      ...runValues(summary),
      day: summary.day,
      rows: summary.rows,
      failures: summary.failures,
      timeouts: summary.timeouts,
      congestion,
      other,
      chromium: String(tools?.["chromium"]),
      ...(other === "own-start" ? {} : { firefox: String(tools?.["firefox"]) }),
      groups: tableOf(groups, [
        ["browser", ({ browser }) => browser],
        ["device", ({ device }) => device],
        ["network", ({ network }) => network],
        ["n", ({ n }) => `${Math.min(...n)} to ${Math.max(...n)}`],
        ["never, ms", ({ ms }) => number(ms["fixed-h2"])],
        [`${title}, ms`, ({ ms }) => number(ms[other])],
        [`${subjectTitle}, ms`, ({ ms }) => number(ms[subject])],
        ["slowest page, ms: never", ({ slowest }) => number(slowest["fixed-h2"])],
        [title, ({ slowest }) => number(slowest[other])],
        [subjectTitle, ({ slowest }) => number(slowest[subject])],
        [`${subjectTitle} / never`, ({ oursAll }) => withInterval(oursAll)],
        [`page 1: ${title} / never`, ({ otherFirst }) => withInterval(otherFirst)],
        [`${subjectTitle} / never`, ({ oursFirst }) => withInterval(oursFirst)],
        [`pages 2 to 4: ${title} / never`, ({ otherLater }) => withInterval(otherLater)],
        [`${subjectTitle} / never`, ({ oursLater }) => withInterval(oursLater)],
        [`${subjectTitle} / ${title}`, ({ oursOverOther }) => withInterval(oursOverOther)],
        [`files over HTTP/3, page 1 to 4, %: ${title}`, ({ overH3 }) => percents(overH3.other)],
        [subjectTitle, ({ overH3 }) => percents(overH3.ours)],
        ["busiest core, %", ({ busy }) => number(100 * busy)],
      ]),
    },
    pictures: [{ file: "browsers.svg", spec: pictureOf(groups, other) }],
  };
}

/** Pages 2 to 4 of both beside never: a panel for each browser. */
function pictureOf(groups: Summary["groups"], other: Summary["other"]): TopLevelSpec {
  const { subject } = OTHERS[other];
  const nameOf = ({ network, device }: Summary["groups"][number]): string => {
    const cores = DEVICES[device];
    return cores === undefined ? network : `${network}, ${cores} core`;
  };
  const values = groups.flatMap((group) =>
    (
      [
        [other, group.otherLater],
        [subject, group.oursLater],
      ] as const
    ).map(([arm, { estimate, low, high }]) => ({
      browser: group.browser,
      place: nameOf(group),
      arm,
      estimate,
      low,
      high,
    })),
  );
  return ratioPanels({
    title: {
      text: "Pages 2 to 4 of a visitor whom nobody knows, beside never",
      subtitle: ["Mean load time. Below 1 it is faster. Lines: 95 % intervals."],
    },
    values,
    ratio: "time, of never's",
    panel: { field: "browser", sort: BROWSERS.filter((name) => groups.some(({ browser }) => browser === name)) },
    row: { field: "place", sort: [...new Set(groups.map(nameOf))] },
    series: look("arm", [ARM_STYLES[other], ARM_STYLES[subject]], { title: null }),
  });
}
