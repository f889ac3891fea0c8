import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { activatePolicy, callApi } from "../../../infra/workerd/policy-client.ts";
import type { Run } from "../../harness/experiment.ts";
import { inLab } from "../../harness/in-lab.ts";
import { setNetwork } from "../../harness/set-network.ts";
import { policyOf } from "../../lab/arm-policy.ts";
import { runPlan } from "../../lab/k6.ts";
import type { Lab } from "../../lab/lab.ts";
import type { Lane } from "../../lab/lane.ts";
import { runProgram } from "../../lab/run-program.ts";
import { TOKEN } from "../../lab/worker.ts";
import { documentOf } from "../../model/content.ts";
import type { Load, LoadResult } from "../../model/plan.ts";
import { blankRow } from "../../model/row-schema.ts";
import {
  CHANGED_ROW,
  type ChangedRow,
  CONGESTION,
  EXPLORED,
  FILE_BYTES,
  FILES,
  lanesOf,
  NETWORKS,
  PAGES,
  PARTS,
  type Part,
  PAUSE_MS,
  QUICK_ROUNDS,
  ROUNDS,
  visitsOf,
} from "./settings.ts";
import { decidedBy } from "./token.ts";

const ARM = "adaptive";
const DAY_S = 86_400;
const TIMEOUT_MS = 120_000;
/** Isolates tell the objects every ten seconds, and those write their sums every ten seconds. */
const WRITTEN_MS = 25_000;
/** After the autopilot has made its choice for everyone, so many rounds show what it is worth. */
const ROUNDS_AFTER = 3;
/** The change of the server comes when offers of before have run out, and all clients are drawn anew. */
const CHANGE_DAYS = 4;
/** A table that offers HTTP/3 to everyone who draws nothing. */
const HARMFUL_GAIN = 0.3;

type ChangedRun = Run<{ readonly seed: number; readonly quick: boolean }, ChangedRow>;

/** Whether a run came to its end: the audit is read last. */
export function isOver(rows: readonly ChangedRow[]): boolean {
  return rows.some(({ kind }) => kind === "audit");
}

/** Makes all rounds. @throws UserError */
export async function makeRounds(run: ChangedRun): Promise<void> {
  const { folder, options, signal, progress } = run;
  if (folder.rows.length > 0)
    throw new UserError("This run was interrupted, and its store is gone. Begin anew with --fresh.");
  const policy = {
    ...policyOf(ARM, "cubic", "quic-go"),
    exploration: { share: EXPLORED },
    reports: { share: 1, inject: false },
  };
  const rounds = options.quick ? QUICK_ROUNDS : ROUNDS;
  const most = PARTS.reduce((sum, part) => sum + rounds[part], 0);
  await inLab(
    { arms: [ARM], lanes: lanesOf(options.quick), policy, shiftsClock: true },
    signal,
    async (lab, lane, told) => {
      let day = 0;
      let round = 0;
      for (const part of PARTS) {
        if (part === "after") day += CHANGE_DAYS - 1;
        if (part === "harmful" && !told.aborted) await activatePolicy(lab.workerSocket(ARM), TOKEN, harmful(policy));
        const said: string[] = [];
        while (said.length < rounds[part] && !isSettled(part, said) && !told.aborted) {
          lab.clock?.shift(day * DAY_S);
          const own = { part, round, day } as const;
          await Promise.all(lab.lanes.map((one) => visit(own, one, lab, run, told)));
          const words = await pause(WRITTEN_MS, undefined, { signal: told })
            .then(() => autopilot(lab, lane, told))
            .catch((error: unknown) => {
              if (!told.aborted) throw error;
            });
          if (words === undefined) return;
          said.push(words);
          folder.append(
            blankRow(CHANGED_ROW, {
              ...own,
              id: `autopilot/${round}`,
              kind: "autopilot",
              startedMs: Date.now(),
              outcome: "ok",
              said: words,
            }),
          );
          progress.show(Math.min(0.99, (round + 1) / most), `day ${day}: ${words}`);
          round += 1;
          day += 1;
        }
      }
      if (told.aborted) return;
      for (const row of await auditOf(lab, round, day)) folder.append(row);
    },
  );
}

function isSettled(part: Part, said: readonly string[]): boolean {
  if (part === "before") return false;
  const settles = part === "after" ? /^Done: it gives version \d+ to everyone/ : /^Done: it takes back /;
  const at = said.findIndex((words) => settles.test(words));
  return at >= 0 && said.length > at + (part === "after" ? ROUNDS_AFTER : 0);
}

/** Visits of a lane, one after another, by clients that nobody has seen. */
async function visit(
  own: Pick<ChangedRow, "part" | "round" | "day">,
  lane: Lane,
  lab: Lab,
  { folder, options: { seed, quick } }: ChangedRun,
  signal: AbortSignal,
): Promise<void> {
  const network = NETWORKS[lane.index % NETWORKS.length];
  if (network === undefined) throw new Error("There are networks.");
  await setNetwork(lane, network, seed, String(own.round), String(lane.index));
  const { edgePids, ...origin } = lane.origin(ARM, CONGESTION[own.part]);
  const page = {
    document: documentOf(FILES * FILE_BYTES),
    subresources: Array.from({ length: FILES }, () => `/image/${FILE_BYTES}`),
    pauseAfterMs: PAUSE_MS,
  };
  const load = (number: number): Load => ({
    id: `${own.round}/${lane.index}/${number}`,
    clientAddress: lane.freshClient(),
    origin,
    edgePids,
    timeoutMs: TIMEOUT_MS,
    switch: "background",
    reports: true,
    parallel: FILES,
    sessions: [{ timed: true, firstProtocol: "h2", pages: Array.from({ length: PAGES }, () => page), pauseAfterMs: 0 }],
  });
  await runPlan({
    plan: { control: lane.path.control, loads: Array.from({ length: visitsOf(quick) }, (_, number) => load(number)) },
    file: join(lab.folder, `plan-${lane.index}.json`),
    namespace: lane.clientNamespace,
    signal,
    onResult: async (result) => {
      if (!signal.aborted) folder.append(rowOf({ ...own, network: network.name }, result));
    },
  });
}

export function rowOf(
  own: Pick<ChangedRow, "part" | "round" | "day" | "network">,
  { id, startedMs, outcome, error, pageMs, filesH3, told, lateRatio, busyRatio }: LoadResult,
): ChangedRow {
  const [token] = told;
  return blankRow(CHANGED_ROW, {
    ...own,
    id: `visit/${id}`,
    kind: "visit",
    startedMs,
    outcome,
    error,
    ...(token === undefined ? {} : decidedBy(token)),
    pagesMs: pageMs.join(";"),
    filesH3: filesH3.join(";"),
    reports: told.length,
    lateRatio,
    busyRatio,
  });
}

/** One step, by the command that an owner runs, with the workers' clock. @throws UserError where it failed */
async function autopilot({ clock }: Lab, lane: Lane, signal: AbortSignal): Promise<string> {
  const { address, port, caFile } = lane.origin(ARM, "cubic");
  const { code, stdout, stderr } = await runProgram(
    [
      "ip",
      "netns",
      "exec",
      lane.serverNamespace,
      ...(clock?.runner ?? ["env"]),
      `H3_URL=https://${address}:${port}`,
      `H3_TOKEN=${TOKEN}`,
      `H3_CA=${caFile}`,
      process.execPath,
      join(ROOT, "policy-api/cli/main.ts"),
      "autopilot",
    ],
    signal,
  );
  if (code !== 0) throw new UserError(`The autopilot failed (exit code ${code}): ${stderr.trim()}`);
  // What is in force then comes after it.
  return stdout.split("\n\n")[0]?.trim() ?? "";
}

function harmful(policy: object): object {
  const { method } = policy as { readonly method: { readonly table: Readonly<Record<"next" | "return", Gains>> } };
  const { table } = method;
  const offers = ({ gain, ...part }: Gains): Gains => ({
    ...part,
    gain: gain.map((losses) => losses.map((rtts) => rtts.map(() => HARMFUL_GAIN))),
  });
  return {
    ...policy,
    source: "Somebody's idea: HTTP/3 for everyone",
    method: { ...method, table: { ...table, next: offers(table.next), return: offers(table.return) } },
  };
}

interface Gains {
  readonly gain: readonly (readonly (readonly number[])[])[];
}

/** What the API itself wrote down, the oldest first. */
async function auditOf(lab: Lab, round: number, day: number): Promise<ChangedRow[]> {
  const { status, json } = await callApi(lab.workerSocket(ARM), TOKEN, "GET", "audit?limit=100");
  if (status !== 200) throw new UserError(`The audit could not be read: ${JSON.stringify(json)}`);
  const { entries } = json as {
    entries: readonly { readonly at: string; readonly action: string; readonly note: string | null }[];
  };
  return entries.toReversed().map(({ at, action, note }, i) =>
    blankRow(CHANGED_ROW, {
      id: `audit/${i}`,
      kind: "audit",
      part: "harmful",
      round,
      day,
      startedMs: Date.parse(at),
      outcome: "ok",
      said: note === null ? action : `${action}: ${note}`,
    }),
  );
}
