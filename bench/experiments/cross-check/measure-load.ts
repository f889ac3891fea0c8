import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../../base/user-error.ts";
import type { Arm } from "../../model/arm.ts";
import type { Plan, Session } from "../../model/plan.ts";
import type { Lane } from "../../lab/lane.ts";
import { runPlan } from "../../lab/k6.ts";
import { setNetwork } from "../../harness/set-network.ts";
import { watchCores } from "../../lab/cores.ts";
import { countedBetween } from "../../lab/path-counters.ts";
import { run, THEIR_CLIENT } from "./python.ts";
import { type ClientLine, type CrossLoad, type CrossRow, crossRow } from "./row.ts";
import { type CrossProtocol, OBJECT_BYTES, TIMEOUT_MS } from "./settings.ts";

/** The arms whose clients begin with these protocols and are offered no other. */
export const ARM_OF: Readonly<Record<CrossProtocol, Arm>> = { h2: "fixed-h2", h3: "fixed-h3" };

/** Lets the untimed session's connection close before the timed one opens. */
const BETWEEN_SESSIONS_MS = 100;

export interface MeasureOptions {
  readonly lane: Lane;
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
  await setNetwork(lane, load.setting.network, seed, load.id);
  const plan = planOf(load, lane);
  const before = await lane.path.counters();
  const { result: line, busyRatio } = await watchCores(() => (load.client === "ours" ? ours : theirs)(plan, options));
  const counted = countedBetween(before, await lane.path.counters());
  return crossRow(load, line, busyRatio(line.startedMs, line.startedMs + (line.loadMs ?? 0)), counted);
}

function planOf({ id, protocol }: CrossLoad, lane: Lane): Plan {
  const arm = ARM_OF[protocol];
  const { edgePids, ...origin } = lane.origin(arm, "cubic");
  const session = (document: string, timed: boolean): Session => ({
    timed,
    firstProtocol: protocol,
    pages: [{ document, subresources: [] }],
    pauseAfterMs: timed ? 0 : BETWEEN_SESSIONS_MS,
  });
  // The small page first: what a new process does only once is in no measure, as in the experiments' long batches.
  const sessions = [session("/index.html", false), session(`/image/${OBJECT_BYTES}`, true)];
  const client = { clientAddress: lane.freshClient(), origin, edgePids, timeoutMs: TIMEOUT_MS };
  // The driver reads the path itself, for both clients: no control.
  const loads = [{ id, ...client, switch: "wait", sessions } as const];
  return { control: null, loads };
}

async function ours(plan: Plan, { lane, folder, signal }: MeasureOptions): Promise<ClientLine> {
  const lines: ClientLine[] = [];
  const onResult = async (result: ClientLine): Promise<void> => void lines.push(result);
  await runPlan({ plan, file: join(folder, PLAN_FILE), namespace: lane.clientNamespace, signal, onResult });
  signal.throwIfAborted();
  return onlyOf(lines);
}

async function theirs(plan: Plan, { lane, folder, signal, theirAckDelayMs }: MeasureOptions): Promise<ClientLine> {
  const file = join(folder, PLAN_FILE);
  writeFileSync(file, JSON.stringify(plan));
  const delay = theirAckDelayMs === undefined ? [] : [`${theirAckDelayMs}`];
  const client = ["ip", "netns", "exec", lane.clientNamespace, ...THEIR_CLIENT, file, ...delay] as const;
  const printed = await run("The second client ended early", client, signal);
  return onlyOf(
    printed
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as ClientLine),
  );
}

const PLAN_FILE = "cross-check-plan.json";

function onlyOf([line]: readonly ClientLine[]): ClientLine {
  if (line === undefined) throw new UserError("A client ended without a load.");
  return line;
}
