import { join } from "node:path";
import { documentOf } from "../../model/content.ts";
import type { Load, LoadResult } from "../../model/plan.ts";
import type { Lane } from "../../lab/lane.ts";
import { runPlan } from "../../lab/k6.ts";
import type { SampleBook } from "../../harness/loads/sample-book.ts";
import { setNetwork } from "../../harness/set-network.ts";
import { type Navigation, navigationId, type NavigationRow, navigationRow } from "./row.ts";
import { APART_MS, isOnB, NAVIGATIONS, TIMEOUT_MS } from "./scenarios.ts";

export interface StretchOptions {
  readonly lane: Lane;
  readonly folder: string;
  readonly samples: SampleBook;
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly onRow: (row: NavigationRow) => void;
}

/** Makes the path what it is in this stretch, and then its navigations, by one k6. @throws UserError where k6 fails */
export async function runStretch(
  stretch: Omit<Navigation, "number">,
  clientAddress: string,
  { lane, folder, samples, seed, signal, onRow }: StretchOptions,
): Promise<void> {
  const { scenario } = stretch;
  const count = NAVIGATIONS[stretch.stretch];
  const navigations = Array.from({ length: count }, (_, i): Navigation => ({ ...stretch, number: i + 1 }));
  const byId = new Map(navigations.map((navigation) => [navigationId(navigation), navigation]));
  await setNetwork(lane, isOnB(stretch.stretch) ? scenario.b : scenario.a, seed, ...byId.keys());
  const origin = lane.origin("adaptive", stretch.congestion);
  const finish = async (result: LoadResult): Promise<void> => {
    const closed = await samples.closed(result.clientAddress, result.startedMs, result.connections.length);
    const navigation = byId.get(result.id);
    // What fails as the system under it is being stopped is no result.
    if (!signal.aborted && navigation !== undefined) onRow(navigationRow(navigation, result, closed));
  };
  // One after the other: the sample book waits for one load of a client at a time.
  let written = Promise.resolve();
  await runPlan({
    plan: {
      control: lane.path.control,
      loads: navigations.map((navigation) => loadOf(navigation, clientAddress, origin)),
    },
    file: join(folder, "path-change-plan.json"),
    namespace: lane.clientNamespace,
    signal,
    onResult: (result) => (written = written.then(() => finish(result))),
  });
}

/**
 * A navigation as k6 makes it: a session of its own, which begins on HTTP/2 and follows an offer for its image. All come
 * from the client's one address.
 */
export function loadOf(
  navigation: Navigation,
  clientAddress: string,
  { edgePids, ...origin }: ReturnType<Lane["origin"]>,
): Load {
  const { imageBytes } = navigation.scenario;
  // The document's path tells the policy how much the page transfers.
  const page = { document: documentOf(imageBytes), subresources: [`/image/${imageBytes}`] };
  return {
    id: navigationId(navigation),
    clientAddress,
    origin,
    edgePids,
    timeoutMs: TIMEOUT_MS,
    switch: "wait",
    sessions: [{ timed: true, firstProtocol: "h2", pages: [page], pauseAfterMs: APART_MS }],
  };
}
