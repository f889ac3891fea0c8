import { join } from "node:path";
import type { Run } from "../../harness/experiment.ts";
import { inLab } from "../../harness/in-lab.ts";
import { setNetwork } from "../../harness/set-network.ts";
import { runPlan } from "../../lab/k6.ts";
import type { Lane } from "../../lab/lane.ts";
import { documentOf } from "../../model/content.ts";
import type { LoadResult } from "../../model/plan.ts";
import { blankRow } from "../../model/row-schema.ts";
import {
  ARMS,
  missingVisits,
  PAGES,
  PAUSE_MS,
  placesOf,
  POLICED_ROW,
  type PolicedRow,
  type Visit,
} from "./settings.ts";

const FILES = 10;
const FILE_BYTES = 100_000;
/** What a page of these transfers is told to the worker by its document's path. */
const DOCUMENT = documentOf(FILES * FILE_BYTES);
const TIMEOUT_MS = 240_000;
export const LANES = 12;

type PolicedRun = Run<{ readonly seed: number; readonly visits: number; readonly quick: boolean }, PolicedRow>;

/** Makes the visits that have no rows yet. @throws UserError */
export async function makeVisits({ folder, options, signal, progress }: PolicedRun): Promise<void> {
  const places = placesOf(options.quick);
  const missing = missingVisits(places, options.visits, folder.rows);
  const all = missingVisits(places, options.visits, []).length;
  await inLab({ arms: ARMS, lanes: LANES }, signal, async (lab, _, told) => {
    const visitOn = async (lane: Lane): Promise<void> => {
      for (let visit = missing.shift(); visit !== undefined && !told.aborted; visit = missing.shift()) {
        const rows = await measureVisit(visit, lane, lab.folder, options.seed, told);
        if (told.aborted) return;
        for (const row of rows) folder.append(row);
        const left = missingVisits(places, options.visits, folder.rows).length;
        progress.show(1 - left / all, `${folder.rows.length} rows, now ${visit.id}`);
      }
    };
    await Promise.all(lab.lanes.map(visitOn));
  });
}

async function measureVisit(
  visit: Visit,
  lane: Lane,
  folder: string,
  seed: number,
  signal: AbortSignal,
): Promise<PolicedRow[]> {
  const { place, arm } = visit;
  await setNetwork(lane, place.network, seed, visit.id);
  const { edgePids, ...origin } = lane.origin(arm, place.congestion);
  const files = Array.from({ length: FILES }, () => `/image/${FILE_BYTES}`);
  const pages = Array.from({ length: PAGES }, () => ({
    document: DOCUMENT,
    subresources: files,
    pauseAfterMs: PAUSE_MS,
  }));
  const rows: PolicedRow[] = [];
  await runPlan({
    plan: {
      control: lane.path.control,
      loads: [
        {
          id: visit.id,
          clientAddress: lane.freshClient(),
          origin,
          edgePids,
          timeoutMs: TIMEOUT_MS,
          switch: "background",
          parallel: FILES,
          sessions: [{ timed: true, firstProtocol: "h2", pages, pauseAfterMs: 0 }],
        },
      ],
    },
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
    return blankRow(POLICED_ROW, {
      id: `${id}/${i + 1}`,
      network: place.network.name,
      congestion: place.congestion,
      arm,
      visit,
      page: i + 1,
      startedMs: result.startedMs,
      outcome: loadMs === null ? (result.outcome === "ok" ? "failed" : result.outcome) : "ok",
      error: loadMs === null ? result.error : "",
      loadMs,
      filesH3: overH3 === undefined ? null : overH3 / FILES,
      busyRatio: result.busyRatio,
      lateRatio: result.lateRatio,
    });
  });
}
