import { UserError } from "../../../base/user-error.ts";
import type { Run } from "../../harness/experiment.ts";
import { inLab } from "../../harness/in-lab.ts";
import type { Lane } from "../../lab/lane.ts";
import { launchIn } from "../../lab/browser.ts";
import { measureVisitByK6 } from "./measure-k6.ts";
import { lasts, measureVisit } from "./measure.ts";
import type { OfferRow } from "../../model/offer-row.ts";
import { missingVisits, type Visit } from "./schedule.ts";
import type { Place } from "./settings.ts";
import { Turns } from "./turns.ts";

type VisitsRun = Pick<
  Run<{ readonly seed: number; readonly quick: boolean; readonly client: Client }, OfferRow>,
  "folder" | "signal" | "progress" | "options"
>;

/** Who visits. */
export const CLIENTS = ["chromium", "k6"] as const;
export type Client = (typeof CLIENTS)[number];

/** A visit rests for most of its time: so many go on at a time, each on a path of its own. One page loads at a time. */
export const LANES = 12;

/** Makes the visits that have no rows yet. A lane takes the next one when it has made one. @throws UserError */
export async function makeVisits(places: readonly Place[], run: VisitsRun, lanes: number): Promise<void> {
  const { folder, progress, options } = run;
  const missing = missingVisits(places, folder.rows, options.seed);
  if (missing.length === 0) return;
  // Where loss makes pages last they would keep the cores busy while others measure: those visits come last.
  const phases = [missing.filter(({ place }) => !lasts(place)), missing.filter(({ place }) => lasts(place))];
  const all = missingVisits(places, [], options.seed).length;
  await inLab({ arms: ["bare"], lanes }, run.signal, async (lab, _, told) => {
    const broken = new AbortController();
    const turns = new Turns();
    const signal = AbortSignal.any([told, broken.signal]);
    const visitOn = async (lane: Lane, left: Visit[]): Promise<void> => {
      const stack = new AsyncDisposableStack();
      try {
        const browser =
          options.client === "k6"
            ? undefined
            : await launchIn(lane, lane.origin("bare", "cubic"), [], lab.folder, stack);
        const isGone = (): boolean => browser?.isConnected() === false;
        const measure = (visit: Visit): Promise<OfferRow[]> =>
          browser === undefined
            ? measureVisitByK6(visit, { ...options, lane, folder: lab.folder, signal })
            : measureVisit(visit, { ...options, lane, browser, signal, turns });
        for (let visit = left.shift(); visit !== undefined && !signal.aborted; visit = left.shift()) {
          const rows = await measure(visit).catch((error: unknown) => {
            if (!signal.aborted && !isGone()) throw error;
            return [];
          });
          // What fails as the system under it is being stopped, or with its browser, is no result.
          if (signal.aborted) return;
          if (isGone()) throw new UserError("The browser ended by itself: the same command goes on.");
          for (const row of rows) folder.append(row);
          const lacking = missingVisits(places, folder.rows, options.seed).length;
          progress.show(1 - lacking / all, `${folder.rows.length} rows, now ${visit.id}`);
        }
      } finally {
        await stack.disposeAsync();
      }
    };
    for (const phase of phases) {
      const working = lab.lanes.map((lane) => visitOn(lane, phase));
      // Where one fails the others end too, before the lab under them does.
      for (const one of working) one.catch(() => broken.abort());
      for (const ended of await Promise.allSettled(working)) if (ended.status === "rejected") throw ended.reason;
    }
  });
}
