import { join } from "node:path";
import { defineExperiment } from "../../harness/experiment.ts";
import { missing, type Named, shareMade } from "../../harness/missing.ts";
import { setNetwork } from "../../harness/in-lab.ts";
import { makeVisits, type Visiting } from "../../harness/visits.ts";
import { runPlan } from "../../lab/k6.ts";
import { type Network, QUEUE_BYTES } from "../../model/cell.ts";
import { documentOf } from "../../model/browser-pages.ts";
import { flag, wholeNumber } from "../../model/options.ts";
import type { LoadResult } from "../../model/plan.ts";
import { blankRow } from "../../model/row-schema.ts";
import {
  ARMS,
  PAGES,
  type PolicedPlace,
  POLICED_ROW,
  policedReport,
  type PolicedRow,
  policedSummary,
} from "./report.ts";

/** Between pages: the edge's sample of a page is with the worker before the next one. */
const PAUSE_MS = 7_000;
const RATE_MBPS = 50;
const FILES = 10;
/** Small ones lose few packets: over HTTP/2 a large page takes half a minute here. */
const FILE_BYTES = { usual: 100_000, quick: 20_000 };
const TIMEOUT_MS = 240_000;
const LANES = 12;

/** Clean paths on which UDP alone loses packets, and the same paths where both lose as many. */
export function placesOf(isQuick: boolean): readonly PolicedPlace[] {
  const losses = isQuick ? [0.08] : [0.02, 0.08, 0.2];
  const congestions = isQuick ? (["cubic"] as const) : (["cubic", "bbr"] as const);
  return (isQuick ? [60] : [10, 60]).flatMap((rttMs) =>
    [true, false].flatMap((isPoliced) =>
      losses
        .filter((loss) => isPoliced || loss < 0.1)
        .flatMap((loss) => {
          const name = `${rttMs} ms, ${100 * loss} % of ${isPoliced ? "UDP" : "all"}`;
          const plain = { name, rateMbps: RATE_MBPS, delayMs: rttMs / 2, queueBytes: QUEUE_BYTES };
          const lost = isPoliced ? { lossRatio: 0, udpLossRatio: loss } : { lossRatio: loss };
          const network: Network = { ...plain, ...lost };
          return congestions.map((congestion) => ({ network, isPoliced, congestion }));
        }),
    ),
  );
}

export interface Visit extends Named {
  readonly place: PolicedPlace;
  readonly arm: PolicedRow["arm"];
  /** From 0. */
  readonly visit: number;
}

/** In rounds of one of each place and arm. */
export function visitsOf(places: readonly PolicedPlace[], visits: number): Visit[] {
  return Array.from({ length: visits }, (_, visit) =>
    places.flatMap((place) =>
      ARMS.map((arm) => {
        const id = `${place.network.name}/${place.congestion}/${arm}/${visit}`;
        return { id, lastId: `${id}/${PAGES}`, place, arm, visit };
      }),
    ),
  ).flat();
}

/** Networks that drop packets of UDP alone: how soon the policy takes HTTP/3 back. */
export const experiment = defineExperiment({
  options: {
    visits: wholeNumber("of each network, congestion control and arm (10)", [1, 1_000], 10),
    seed: wholeNumber("what losses and resamples are drawn from (1)", [0, 2 ** 31 - 1], 1),
    quick: flag("one network and a few visits: whether it works"),
  },
  row: POLICED_ROW,
  // Not how many visits: a longer run goes on with the rows of a shorter one.
  question: ({ seed, quick }) => ({ seed, quick, places: placesOf(quick) }),
  done: ({ visits, quick }, rows) => shareMade(visitsOf(placesOf(quick), visits), rows),
  lanes: () => LANES,
  measure: async (run) => {
    const { visits, seed, quick } = run.options;
    const all = visitsOf(placesOf(quick), visits);
    const queue = missing(all, run.folder.rows);
    const queues = Array.from({ length: LANES }, () => queue);
    await makeVisits(all, [queues], { arms: ARMS }, run, (_, visiting) =>
      Promise.resolve((visit) => measureVisit(visit, visiting, seed, quick ? FILE_BYTES.quick : FILE_BYTES.usual)),
    );
  },
  summarise: ({ options: { seed, quick }, ...recorded }) => policedSummary(recorded, placesOf(quick), seed),
  report: policedReport,
});

async function measureVisit(
  visit: Visit,
  { lane, folder, signal }: Visiting,
  seed: number,
  fileBytes: number,
): Promise<PolicedRow[]> {
  const { id, place, arm } = visit;
  await setNetwork(lane, place.network, seed, id);
  const { edgePids, ...origin } = lane.origin(arm, place.congestion);
  // The worker knows by its document's path how much a page transfers.
  const page = {
    document: documentOf(FILES * fileBytes),
    subresources: Array.from({ length: FILES }, () => `/image/${fileBytes}`),
    pauseAfterMs: PAUSE_MS,
  };
  const pages = Array.from({ length: PAGES }, () => page);
  const load = {
    id,
    clientAddress: lane.freshClient(),
    origin,
    edgePids,
    timeoutMs: TIMEOUT_MS,
    switch: "background",
    parallel: FILES,
    sessions: [{ timed: true, firstProtocol: "h2", pages, pauseAfterMs: 0 }],
  } as const;
  const rows: PolicedRow[] = [];
  await runPlan({
    plan: { control: lane.path.control, loads: [load] },
    file: join(folder, `plan-${lane.index}.json`),
    namespace: lane.clientNamespace,
    signal,
    onResult: async (result) => {
      rows.push(...rowsOf(visit, result));
    },
  });
  return rows;
}

/** A row for each page; one that did not load says why. */
export function rowsOf({ id, place, arm, visit }: Visit, result: LoadResult): PolicedRow[] {
  return Array.from({ length: PAGES }, (_, i) => {
    const loadMs = result.pageMs[i] ?? null;
    const overH3 = result.filesH3[i];
    const outcome = result.outcome === "ok" ? "failed" : result.outcome;
    return blankRow(POLICED_ROW, {
      id: `${id}/${i + 1}`,
      network: place.network.name,
      congestion: place.congestion,
      arm,
      visit,
      page: i + 1,
      startedMs: result.startedMs,
      ...(loadMs === null ? { outcome, error: result.error } : { outcome: "ok" }),
      loadMs,
      filesH3: overH3 === undefined ? null : overH3 / FILES,
      busyRatio: result.busyRatio,
      lateRatio: result.lateRatio,
    });
  });
}
