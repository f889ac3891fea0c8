import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { defineExperiment } from "../../harness/experiment.ts";
import { missing, shareMade } from "../../harness/missing.ts";
import {
  type BrowserVisit,
  type LoadAgain,
  loadPages,
  makeVisits,
  openBrowser,
  shareOverH3,
  Turns,
  versionOf,
  waitBefore,
} from "../../harness/visits.ts";
import type { LoadedPage } from "../../lab/navigate.ts";
import { buildLab } from "../../lab/programs.ts";
import { type BrowserClient, cellOf, JUDGING_DRAW, pageOf, readBrowserClients } from "../../model/clients.ts";
import { DEVICES } from "../../model/devices.ts";
import { flag, wholeNumber } from "../../model/options.ts";
import { blankRow } from "../../model/row-schema.ts";
import { ARMS, CLIENTS_ROW, type ClientsRow, clientsReport, clientsSummary, PAGES } from "./report.ts";

const PAUSE_MS = 3_000;
const QUICK_MS = 1_500;
/**
 * So many clients of a browser on a device share a lane: others wait for their next page meanwhile. With 12 in a lane, and so 12 lanes,
 * half of the recorded pages had late packets.
 */
const LANE_CLIENTS = 20;
/** A page keeps the cores busy for no longer: a slow one would keep others from theirs until their connections have ended. */
const TURN_MS = 3_000;
/** Clients that are measured together: a run that is interrupted has whole ones. */
const PART = 32;

interface Visit extends BrowserVisit {
  readonly client: BrowserClient;
  readonly arm: ClientsRow["arm"];
  /** From 0. */
  readonly visit: number;
}

interface Options {
  readonly draw: number;
  readonly clients: number;
  readonly visits: number;
  readonly seed: number;
  readonly quick: boolean;
}

/** The first of a draw: any in a row are spread evenly over the population. */
function clientsOf({ draw, clients, quick }: Pick<Options, "draw" | "clients" | "quick">): readonly BrowserClient[] {
  return readBrowserClients(draw).slice(0, quick ? 1 : clients);
}

/** In rounds of one for each client and arm, some clients after the others, theirs in random order. */
export function visitsOf(options: Options): Visit[] {
  const clients = clientsOf(options);
  const parts = Array.from({ length: Math.ceil(clients.length / PART) }, (_, i) =>
    clients.slice(i * PART, (i + 1) * PART),
  );
  return Array.from({ length: options.quick ? 1 : options.visits }, (_, visit) =>
    parts.map((part, i) => {
      const own = part.flatMap((client) => ARMS.map((arm) => visitOf(client, arm, visit)));
      return shuffle(own, seededRandom(options.seed, "browser-clients", visit, i));
    }),
  ).flat(2);
}

function visitOf(client: BrowserClient, arm: Visit["arm"], visit: number): Visit {
  const id = `${client.name}/${arm}/${visit}`;
  const network = { ...cellOf(client).network, udpLossRatio: client.udpLossRatio };
  const place = { network, congestion: "cubic" as const };
  return { id, lastId: `${id}/${PAGES}`, place, page: pageOf(client), client, arm, visit };
}

function rowOf({ id, place: { congestion }, client, arm, visit }: Visit, page: number, seen: LoadedPage): ClientsRow {
  return blankRow(CLIENTS_ROW, {
    ...seen,
    id: `${id}/${page}`,
    congestion,
    client: client.name,
    arm,
    visit,
    page,
    filesH3: shareOverH3(seen),
  });
}

/** What never, always and ours do for clients drawn from a population, in Chromium and Firefox, on fast devices and slow ones. */
export const experiment = defineExperiment({
  options: {
    draw: wholeNumber(
      `which clients: the 112 of 1 or 2, by whom the policy was made, the 144 of 3, who judged the one before, or the 144 of 4, who judge it (${JUDGING_DRAW})`,
      [1, JUDGING_DRAW],
      JUDGING_DRAW,
    ),
    clients: wholeNumber("the first of these (all)", [1, 1_000], 1_000),
    visits: wholeNumber("of each client and arm (1)", [1, 1_000], 1),
    seed: wholeNumber("what order, losses and resamples are drawn from (1)", [0, 2 ** 31 - 1], 1),
    quick: flag("one client, with short pauses: whether it works"),
  },
  row: CLIENTS_ROW,
  // Not how many clients and visits: a longer run goes on with the rows of a shorter one.
  question: ({ draw, seed, quick }) => ({ seed, quick, clients: readBrowserClients(draw), DEVICES }),
  done: (options, rows) => shareMade(visitsOf(options), rows),
  lanes: (options) => lanesOf(visitsOf(options), options.quick).length,
  prepare: async () => {
    const versions = await Promise.all(
      (["chromium", "firefox"] as const).map(async (one) => [one, await versionOf(one)] as const),
    );
    await buildLab();
    return Object.fromEntries(versions);
  },
  measure: async (run) => {
    const { seed, quick } = run.options;
    const all = visitsOf(run.options);
    const phase = lanesOf(missing(all, run.folder.rows), quick);
    const waits = quick ? { pauseMs: QUICK_MS, awayMs: QUICK_MS } : { pauseMs: PAUSE_MS };
    const turns = new Turns();
    const take: Turns["take"] = (call) => turns.take(call, TURN_MS);
    await makeVisits(all, [phase], { arms: ARMS }, run, async (first, visiting) => {
      const { browser: name, device } = first.client;
      const opening = { browser: name, cores: DEVICES[device] };
      const browser = await turns.take(() => openBrowser(first, visiting, opening));
      return (visit) => {
        const pagesOf = (load: LoadAgain): Promise<ClientsRow[]> =>
          loadPages({ load, take, pages: PAGES }, async (page) => {
            await waitBefore(page, PAGES, visiting, waits);
            return (seen) => rowOf(visit, page, seen);
          });
        return browser.visit(visit, seed, pagesOf, take);
      };
    });
  },
  summarise: ({ options, ...recorded }) => clientsSummary(recorded, readBrowserClients(options.draw), options),
  report: clientsReport,
});

/** A queue for each browser on each device, in each of its lanes. */
function lanesOf(visits: readonly Visit[], isQuick: boolean): Visit[][] {
  const queues = Map.groupBy(visits, ({ client: { browser, device } }) => `${browser} ${device}`);
  return [...queues.values()].flatMap((queue) => {
    const clients = new Set(queue.map(({ client }) => client.name)).size;
    return Array.from({ length: isQuick ? 1 : Math.ceil(clients / LANE_CLIENTS) }, () => queue);
  });
}
