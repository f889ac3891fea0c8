import { join } from "node:path";
import type { LoadResult, Plan } from "../../model/plan.ts";
import type { Lane } from "../../lab/lane.ts";
import { runPlan } from "../../lab/k6.ts";
import type { SampleBook } from "../../harness/loads/sample-book.ts";
import { integer, seededRandom } from "../../analysis/statistics/random.ts";
import { loadOf, navigationsOf } from "./plan.ts";
import { networkOf } from "./scenarios.ts";
import { type Navigation, navigationId, type NavigationRow, navigationRow } from "./row.ts";

export interface StretchOptions {
  readonly stretch: Omit<Navigation, "number">;
  readonly clientAddress: string;
  readonly lane: Lane;
  readonly folder: string;
  readonly samples: SampleBook;
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly onRow: (row: NavigationRow) => void;
}

/** Makes the path what it is in this stretch, and then its navigations, by one k6. @throws UserError where k6 fails */
export async function runStretch(options: StretchOptions): Promise<void> {
  const { stretch, lane, signal } = options;
  const network = networkOf(stretch.scenario, stretch.stretch);
  const { rateMbps, delayMs, lossRatio, queueBytes } = network;
  const navigations = navigationsOf(stretch);
  const byId = new Map(navigations.map((navigation) => [navigationId(navigation), navigation]));
  await lane.path.set({
    seed: integer(2 ** 31, seededRandom(options.seed, "path", ...byId.keys())),
    aToB: { rateMbps, delayMs, queueBytes },
    bToA: { rateMbps, delayMs, queueBytes, lossRatio },
  });
  const origin = lane.origin("adaptive", stretch.congestion);
  const plan: Plan = {
    control: lane.path.control,
    loads: navigations.map((navigation) => loadOf(navigation, options.clientAddress, origin)),
  };
  // One after the other: the sample book waits for one load of a client at a time.
  let written = Promise.resolve();
  await runPlan({
    plan,
    file: join(options.folder, "path-change-plan.json"),
    namespace: lane.clientNamespace,
    signal,
    onResult: (result) => {
      const navigation = byId.get(result.id);
      written = written.then(() => (navigation === undefined ? undefined : finish(navigation, result)));
      return written;
    },
  });

  async function finish(navigation: Navigation, result: LoadResult): Promise<void> {
    const samples = await options.samples.closed(result.clientAddress, result.startedMs, result.connections.length);
    // What fails as the system under it is being stopped is no result.
    if (signal.aborted) return;
    options.onRow(navigationRow(navigation, result, samples));
  }
}
