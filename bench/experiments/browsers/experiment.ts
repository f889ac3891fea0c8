import { setTimeout as pause } from "node:timers/promises";
import { UserError } from "../../../base/user-error.ts";
import { buildStockEdge } from "../../../infra/setup/build.ts";
import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { defineExperiment } from "../../harness/experiment.ts";
import { missing, shareMade } from "../../harness/missing.ts";
import {
  type BrowserName,
  type BrowserVisit,
  loadPages,
  makeVisits,
  openBrowser,
  pausesOf,
  shareOverH3,
  Turns,
  versionOf,
} from "../../harness/visits.ts";
import type { LoadedPage } from "../../lab/navigate.ts";
import { buildLab } from "../../lab/programs.ts";
import { type Device, DEVICES } from "../../model/devices.ts";
import { flag, oneOf, wholeNumber } from "../../model/options.ts";
import { blankRow } from "../../model/row-schema.ts";
import {
  ARMS,
  BROWSERS_ROW,
  type BrowsersRow,
  browsersReport,
  browsersSummary,
  CLIENTS,
  HYSTART,
  HYSTART_ARMS,
  NETWORKS,
  PAGES,
  type Place,
  POLICED,
  POLICED_ARMS,
} from "./report.ts";

/** Between pages, where no UDP is policed. What the edge tells of a connection, it tells when that has rested for a second. */
const PAUSE_MS = 3_000;
const QUICK_MS = 1_500;
/** Of each browser on each device: others wait for their next page meanwhile. */
const LANES = 2;

interface Visit extends BrowserVisit {
  readonly place: Place & { readonly congestion: "cubic" | "bbr" };
  readonly arm: BrowsersRow["arm"];
  readonly browser: BrowserName;
  readonly device: Device;
  /** From 0. */
  readonly visit: number;
}

interface Options {
  readonly visits: number;
  readonly congestion: "cubic" | "bbr";
  readonly seed: number;
  readonly policed: boolean;
  readonly hystart: boolean;
  readonly quick: boolean;
}

type Variant = Pick<Options, "policed" | "hystart">;

function networksOf({ policed, hystart, quick }: Variant & Pick<Options, "quick">): readonly Place[] {
  const all = policed ? POLICED : hystart ? HYSTART : NETWORKS;
  return quick ? all.slice(-1) : all;
}

const armsOf = ({ policed, hystart }: Variant) => (policed ? POLICED_ARMS : hystart ? HYSTART_ARMS : ARMS);

function clientsOf({ policed, hystart }: Variant): typeof CLIENTS {
  // What a network does to UDP is the same for slow devices.
  if (policed) return CLIENTS.filter(({ browser, device }) => device === "fast" && browser !== "firefox-racing");
  return hystart ? CLIENTS.filter(({ browser }) => browser === "chromium") : CLIENTS;
}

/** In rounds of one for each browser, device, network and arm, each round in random order. */
export function visitsOf(options: Options): Visit[] {
  const { congestion, seed } = options;
  return Array.from({ length: options.quick ? 1 : options.visits }, (_, visit) => {
    const round = networksOf(options).flatMap((network) =>
      clientsOf(options).flatMap(({ browser, device }) =>
        armsOf(options).map((arm): Visit => {
          const id = `${network.network.name}/${browser}/${device}/${arm}/${visit}`;
          const place = { ...network, congestion };
          return { id, lastId: `${id}/${PAGES}`, place, page: network.page, arm, browser, device, visit };
        }),
      ),
    );
    return shuffle(round, seededRandom(seed, "browsers", visit));
  }).flat();
}

function rowOf({ id, place, browser, device, arm, visit }: Visit, page: number, seen: LoadedPage): BrowsersRow {
  const { network, congestion } = place;
  return blankRow(BROWSERS_ROW, {
    ...seen,
    id: `${id}/${page}`,
    network: network.name,
    congestion,
    browser,
    device,
    arm,
    visit,
    page,
    filesH3: shareOverH3(seen),
  });
}

/** What never, always and ours do for a visitor whom nobody knows, in two browsers, on fast devices and on slow ones. */
export const experiment = defineExperiment({
  options: {
    visits: wholeNumber("of each browser, device, network and arm (5)", [1, 1_000], 5),
    congestion: oneOf("NAME", "the server's TCP: cubic (by default) or bbr", ["cubic", "bbr"], "cubic"),
    seed: wholeNumber("what order and resamples are drawn from (1)", [0, 2 ** 31 - 1], 1),
    policed: flag("networks that police UDP, on fast devices, in the place of those"),
    hystart: flag("always in Chromium, by the edge's slow start and by quic-go's, in the place of those"),
    quick: flag("one visit of each on one network, with short pauses: whether it works"),
  },
  row: BROWSERS_ROW,
  folderName: ({ congestion, policed, hystart }) =>
    `browsers${policed ? "-policed" : ""}${hystart ? "-hystart" : ""}${congestion === "cubic" ? "" : `-${congestion}`}`,
  // Not how many visits: a longer run goes on with the rows of a shorter one.
  question: ({ congestion, seed, policed, hystart, quick }) => ({
    congestion,
    seed,
    quick,
    networks: networksOf({ policed, hystart, quick }),
    ...(hystart ? { arms: HYSTART_ARMS } : {}),
    DEVICES,
  }),
  done: (options, rows) => shareMade(visitsOf(options), rows),
  lanes: (options) => LANES * clientsOf(options).length,
  prepare: async ({ policed, hystart }) => {
    if (policed && hystart) throw new UserError("--policed and --hystart are two runs: give one of them.");
    const versions = await Promise.all(
      (["chromium", "firefox"] as const).map(async (one) => [one, await versionOf(one)] as const),
    );
    await buildLab();
    if (hystart) await buildStockEdge();
    return Object.fromEntries(versions);
  },
  measure: async (run) => {
    const { seed, policed, quick } = run.options;
    const all = visitsOf(run.options);
    // A queue for each browser on each device.
    const queues = Map.groupBy(missing(all, run.folder.rows), ({ browser, device }) => `${browser} ${device}`);
    const phase = [...queues.values()].flatMap((queue) => Array.from({ length: quick ? 1 : LANES }, () => queue));
    const turns = new Turns();
    const take: Turns["take"] = (call) => turns.take(call);
    await makeVisits(all, [phase], { arms: armsOf(run.options) }, run, async (first, visiting) => {
      const browser = await openBrowser(first, visiting, { browser: first.browser, cores: DEVICES[first.device] });
      return (visit) => {
        const nextMs = quick ? () => QUICK_MS : policed ? pausesOf(visit, seed) : () => PAUSE_MS;
        return browser.visit(
          visit,
          seed,
          (load) =>
            loadPages({ load, take, pages: PAGES }, async (page) => {
              if (page > 1) await pause(nextMs(), undefined, { signal: visiting.signal });
              return (seen) => rowOf(visit, page, seen);
            }),
          take,
        );
      };
    });
  },
  summarise: ({ options, ...recorded }) => browsersSummary(recorded, networksOf(options), options.seed),
  report: browsersReport,
});
