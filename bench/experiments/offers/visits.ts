import { UserError } from "../../../base/user-error.ts";
import type { Run } from "../../harness/experiment.ts";
import { inLab } from "../../harness/in-lab.ts";
import type { Lane } from "../../lab/lane.ts";
import { launchIn } from "../../lab/browser.ts";
import { measureVisit } from "./measure.ts";
import type { OfferRow } from "./row.ts";
import { missingVisits } from "./schedule.ts";
import type { Place } from "./settings.ts";

type VisitsRun = Pick<
  Run<{ readonly seed: number; readonly quick: boolean }, OfferRow>,
  "folder" | "signal" | "progress" | "options"
>;

/** A visit rests for most of its time: so many go on at a time, each on a path of its own. */
export const LANES = 8;

/** Makes the visits that have no rows yet. A lane takes the next one when it has made one. @throws UserError */
export async function makeVisits(places: readonly Place[], run: VisitsRun, lanes: number): Promise<void> {
  const { folder, progress, options } = run;
  const missing = missingVisits(places, folder.rows, options.seed);
  if (missing.length === 0) return;
  const all = missingVisits(places, [], options.seed).length;
  await inLab({ arms: ["bare"], lanes }, run.signal, async (lab, _, told) => {
    const broken = new AbortController();
    const signal = AbortSignal.any([told, broken.signal]);
    const visitOn = async (lane: Lane): Promise<void> => {
      const stack = new AsyncDisposableStack();
      try {
        const browser = await launchIn(lane, lane.origin("bare", "cubic"), [], lab.folder, stack);
        for (let visit = missing.shift(); visit !== undefined && !signal.aborted; visit = missing.shift()) {
          const rows = await measureVisit(visit, { ...options, lane, browser, signal }).catch((error: unknown) => {
            if (!signal.aborted && browser.isConnected()) throw error;
            return [];
          });
          // What fails as the system under it is being stopped, or with its browser, is no result.
          if (signal.aborted) return;
          if (!browser.isConnected()) throw new UserError("The browser ended by itself: the same command goes on.");
          for (const row of rows) folder.append(row);
          const left = missingVisits(places, folder.rows, options.seed).length;
          progress.show(1 - left / all, `${folder.rows.length} rows, now ${visit.id}`);
        }
      } finally {
        await stack.disposeAsync();
      }
    };
    const working = lab.lanes.map(visitOn);
    // Where one fails the others end too, before the lab under them does.
    for (const one of working) one.catch(() => broken.abort());
    for (const ended of await Promise.allSettled(working)) if (ended.status === "rejected") throw ended.reason;
  });
}
