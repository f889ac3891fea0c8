import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import type { Arm } from "../../model/arm.ts";
import type { LoadResult, Plan, Session } from "../../model/plan.ts";
import type { Lane } from "../../lab/lane.ts";
import { runPlan } from "../../lab/k6.ts";
import { integer, seededRandom } from "../../analysis/statistics/random.ts";
import { watchCores } from "../../lab/cores.ts";
import { countedBetween } from "../../lab/path-counters.ts";
import type { ClientLine, CrossRow } from "./row.ts";
import { crossRow } from "./row-of.ts";
import { lastLines, runProgram } from "../../lab/run-program.ts";
import type { CrossLoad } from "./schedule.ts";
import { type CrossProtocol, OBJECT_BYTES, TIMEOUT_MS } from "./settings.ts";

/** The arms whose clients begin with these protocols and are offered no other. */
export const ARM_OF: Readonly<Record<CrossProtocol, Arm>> = { h2: "fixed-h2", h3: "fixed-h3" };

const CONGESTION = "cubic";
/** Lets the untimed session's connection close before the timed one opens. */
const BETWEEN_SESSIONS_MS = 100;

export interface MeasureOptions {
  readonly lane: Lane;
  readonly python: string;
  readonly folder: string;
  readonly seed: number;
  readonly theirAckDelayMs: number | undefined;
  readonly signal: AbortSignal;
}

/**
 * Makes one load, by a process of its own for either client, and reads cores and path around it: the same plan, the
 * same readings, whichever the client. @throws UserError where the client does not run
 */
export async function measureLoad(load: CrossLoad, options: MeasureOptions): Promise<CrossRow> {
  const { lane, seed } = options;
  const { rateMbps, delayMs, lossRatio, queueBytes } = load.setting.network;
  await lane.path.set({
    seed: integer(2 ** 31, seededRandom(seed, "path", load.id)),
    aToB: { rateMbps, delayMs, queueBytes },
    bToA: { rateMbps, delayMs, queueBytes, lossRatio },
  });
  const plan = planOf(load, lane);
  const file = join(options.folder, "cross-check-plan.json");
  const before = await lane.path.counters();
  const { result: line, busyRatio } = await watchCores(() =>
    load.client === "ours" ? runOurs(plan, file, options) : runTheirs(load, plan, file, options),
  );
  const counted = countedBetween(before, await lane.path.counters());
  return crossRow(load, line, busyRatio(line.startedMs, line.startedMs + (line.loadMs ?? 0)), counted);
}

function planOf(load: CrossLoad, lane: Lane): Plan {
  const arm = ARM_OF[load.protocol];
  const { edgePids, ...origin } = lane.origin(arm, CONGESTION);
  const session = (document: string, timed: boolean): Session => ({
    timed,
    firstProtocol: load.protocol,
    pages: [{ document, subresources: [] }],
    pauseAfterMs: timed ? 0 : BETWEEN_SESSIONS_MS,
  });
  return {
    // The driver reads the path itself, for both clients.
    control: null,
    loads: [
      {
        id: load.id,
        clientAddress: lane.freshClient(),
        origin,
        edgePids,
        timeoutMs: TIMEOUT_MS,
        switch: "wait",
        // The small page first: what a new process does only once is in no measure, as in the experiments' long batches.
        sessions: [session("/index.html", false), session(`/image/${OBJECT_BYTES}`, true)],
      },
    ],
  };
}

async function runOurs(plan: Plan, file: string, { lane, signal }: MeasureOptions): Promise<ClientLine> {
  let line: ClientLine | undefined;
  const onResult = (result: LoadResult): Promise<void> => {
    line = result;
    return Promise.resolve();
  };
  await runPlan({ plan, file, namespace: lane.clientNamespace, signal, onResult });
  signal.throwIfAborted();
  if (line === undefined) throw new UserError("k6 ended without a load.");
  return line;
}

async function runTheirs(load: CrossLoad, plan: Plan, file: string, options: MeasureOptions): Promise<ClientLine> {
  writeFileSync(file, JSON.stringify(plan));
  const delay = options.theirAckDelayMs === undefined ? [] : [`${options.theirAckDelayMs}`];
  // Isolated: no variable and no package of this user's own.
  const client = [options.python, "-I", join(ROOT, "bench/experiments/cross-check/client.py"), file, ...delay];
  const { code, stdout, stderr } = await runProgram(
    ["ip", "netns", "exec", options.lane.clientNamespace, ...client],
    options.signal,
  );
  const line = stdout.split("\n").find((text) => text.startsWith("{"));
  if (code !== 0 || line === undefined)
    throw new UserError(`The client of ${load.id} ended early (${code}).\n${lastLines(stderr || stdout)}`);
  return JSON.parse(line) as ClientLine;
}
