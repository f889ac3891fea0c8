import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { startProgram } from "../../../infra/workerd/processes.ts";
import type { LoadResult, Plan } from "../../model/plan.ts";
import type { Lane } from "../../lab/lane.ts";
import { K6_PROGRAM } from "../../lab/programs.ts";
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
    network: network.name,
    control: lane.path.control,
    loads: navigations.map((navigation) => loadOf(navigation, options.clientAddress, origin)),
  };
  const file = join(options.folder, "path-change-plan.json");
  writeFileSync(file, JSON.stringify(plan));

  // One after the other: the sample book waits for one load of a client at a time.
  let written = Promise.resolve();
  let rows = 0;
  const said: string[] = [];
  const k6 = startProgram("ip", {
    args: [
      ["netns", "exec", lane.clientNamespace, K6_PROGRAM, "run", "--quiet", "--no-usage-report"],
      ["-e", `PLAN=${file}`, join(ROOT, "bench/instrument/k6/loads.ts")],
    ].flat(),
    env: { K6_AUTO_EXTENSION_RESOLUTION: "false" },
    onLine: (line) => {
      const result = line.startsWith("{") ? (JSON.parse(line) as LoadResult) : undefined;
      const navigation = result === undefined ? undefined : byId.get(result.id);
      if (result === undefined || navigation === undefined) said.push(line);
      else {
        written = written.then(() => finish(navigation, result));
        // A row that cannot be written ends the stretch; the reason comes out where the rows are waited for.
        written.catch(stop);
      }
    },
    onErrorLine: (line) => said.push(line),
    graceMs: 2_000,
  });
  const stop = (): void => void k6.stop("SIGKILL");
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const why = await k6.ended;
  signal.removeEventListener("abort", stop);
  await written;
  if (!signal.aborted && (why !== "exit code 0" || rows < navigations.length))
    throw new UserError([`k6 ended early (${why}).`, ...new Set(said.slice(-20))].join("\n"));

  async function finish(navigation: Navigation, result: LoadResult): Promise<void> {
    const samples = await options.samples.closed(result.clientAddress, result.startedMs, result.connections.length);
    // What fails as the system under it is being stopped is no result.
    if (signal.aborted) return;
    rows++;
    options.onRow(navigationRow(navigation, result, samples));
  }
}
