import type { Kind, MeasuredPlace } from "../../analysis/levers/gains.ts";
import { leversPicture, leversSummary, leversValues } from "../../analysis/levers/report.ts";
import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { defineExperiment } from "../../harness/experiment.ts";
import { onceEach, runValues, summaryHead } from "../../harness/machine.ts";
import { missing, shareMade } from "../../harness/missing.ts";
import { type BrowserVisit, loadPages, makeVisits, openBrowser, Turns, waitBefore } from "../../harness/visits.ts";
import { browserVersion } from "../../lab/browser.ts";
import type { LoadedPage } from "../../lab/navigate.ts";
import { buildLab } from "../../lab/programs.ts";
import { cellOf, readClients } from "../../model/clients.ts";
import { type Lever, LEVERS } from "../../model/levers.ts";
import { flag, wholeNumber } from "../../model/options.ts";
import { blankRow, float, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";
import { BROWSER_COLUMNS } from "../../model/visit-row.ts";

const ROW = {
  ...BROWSER_COLUMNS,
  client: string(),
  lever: string(),
  /** From 1; the last one is the return. */
  page: float,
} as const satisfies RowSchema;
type Row = RowOf<typeof ROW>;

/** The server on quiche has no pages for a browser. */
const OWN = LEVERS.filter(({ arm }) => arm === "bare" || arm === "bare-h3");
const PAGES = 3;
const RETURN = PAGES + 1;
const NETWORKS = 8;
const PAUSE_MS = 5_000;
const QUICK_MS = 200;
const LANES = 12;
/** Packets that may leave the path late, of all. Chromium alone keeps a core busy, so the bound is wider than that of other clients. */
const LATE_RATIO_MAX = 0.03;

interface Visit extends BrowserVisit {
  readonly lever: Lever;
  readonly visit: number;
}

interface Options {
  readonly visits: number;
  readonly seed: number;
  readonly quick: boolean;
}

/** The first clients of the population: any of them in a row are spread evenly over it. */
const networksOf = ({ quick }: Options) =>
  readClients()
    .slice(0, quick ? 1 : NETWORKS)
    .map((client) => ({ client, network: cellOf(client).network }));

/** In rounds of one for each network and lever, each round in random order. */
function visitsOf(options: Options): Visit[] {
  return Array.from({ length: options.quick ? 1 : options.visits }, (_, visit) => {
    const round = networksOf(options).flatMap(({ client, network }) =>
      OWN.map((lever): Visit => {
        const id = `${client.name}/${lever.id}/${visit}`;
        const { arm, congestion } = lever;
        return { id, lastId: `${id}/${RETURN}`, place: { network, congestion }, arm, page: "page", lever, visit };
      }),
    );
    return shuffle(round, seededRandom(options.seed, "levers", visit));
  }).flat();
}

function rowOf({ id, place, lever, visit }: Visit, page: number, seen: LoadedPage): Row {
  const { congestion, network } = place;
  return blankRow(ROW, {
    ...seen,
    id: `${id}/${page}`,
    client: network.name,
    congestion,
    lever: lever.id,
    visit,
    page,
  });
}

/** The server's levers in Chromium: a page of 1.9 MB in 15 requests, three times, and on a return. */
export const experiment = defineExperiment({
  options: {
    visits: wholeNumber("of each network and lever (6)", [1, 1_000], 6),
    seed: wholeNumber("what order, losses and resamples are drawn from (1)", [0, 2 ** 31 - 1], 1),
    quick: flag("one visit by each lever on one network, with short pauses: whether it works"),
  },
  row: ROW,
  // Not how many visits: a longer run goes on with the rows of a shorter one.
  question: (options) => ({
    seed: options.seed,
    quick: options.quick,
    levers: OWN,
    networks: networksOf(options).map(({ network }) => network),
  }),
  done: (options, rows) => shareMade(visitsOf(options), rows),
  lanes: () => LANES,
  prepare: async () => {
    const chromium = browserVersion();
    await buildLab();
    return { chromium };
  },
  measure: async (run) => {
    const { seed, quick } = run.options;
    const all = visitsOf(run.options);
    const queue = missing(all, run.folder.rows);
    const phase = Array.from({ length: quick ? 1 : LANES }, () => queue);
    const waits = quick ? { pauseMs: QUICK_MS, awayMs: QUICK_MS } : { pauseMs: PAUSE_MS };
    const turns = new Turns();
    await makeVisits(all, [phase], { arms: ["bare", "bare-h3"] }, run, async (first, visiting) => {
      const inCubic = { ...first, place: { ...first.place, congestion: "cubic" as const } };
      const browser = await openBrowser(inCubic, visiting, { forced: ["bare-h3"] });
      return async (visit) => {
        await visiting.lane.setTcp(visit.lever.tcp);
        return browser.visit(visit, seed, (load) =>
          loadPages({ load, take: (call) => turns.take(call), pages: RETURN }, async (page) => {
            await waitBefore(page, RETURN, visiting, waits);
            return (seen) => rowOf(visit, page, seen);
          }),
        );
      };
    });
  },
  summarise: ({ options, ...recorded }) => {
    const measured = onceEach(recorded.rows);
    const rows = measured.filter(({ lateRatio }) => (lateRatio ?? 0) <= LATE_RATIO_MAX);
    const late = measured.length - rows.length;
    return { ...summaryHead(recorded, rows), late, ...leversSummary(placesOf(rows, options), OWN, options.seed) };
  },
  report: (summary) => {
    const { late, failures, starts } = summary;
    const chromium = String(starts.at(-1)?.tools?.["chromium"]);
    const picture = leversPicture(summary, "Chromium, a page of 1.9 MB on eight networks.");
    return {
      values: {
        ...runValues(summary),
        ...leversValues(summary),
        chromium,
        late: String(late),
        failures: String(failures),
      },
      pictures: [{ file: "levers-browser.svg", spec: picture }],
    };
  },
});

function placesOf(rows: readonly Row[], options: Options): MeasuredPlace[] {
  const own = Map.groupBy(rows, ({ client, lever }) => `${client} ${lever}`);
  return networksOf(options).map(({ client }) => ({
    ...client,
    pages: Object.fromEntries(OWN.map(({ id }) => [id, timesOf(own.get(`${client.name} ${id}`) ?? [])])),
  }));
}

function timesOf(rows: readonly Row[]): Record<Kind, number[][]> {
  const visits = [...Map.groupBy(rows, ({ visit }) => visit).values()];
  const times = (from: number, to: number): number[][] =>
    visits
      .map((pages) => pages.flatMap(({ page, loadMs }) => (page >= from && page <= to ? (loadMs ?? []) : [])))
      .filter(({ length }) => length > 0);
  return { first: times(1, 1), later: times(2, PAGES), return: times(RETURN, RETURN) };
}
