import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { UserError } from "../../../base/user-error.ts";
import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { defineExperiment } from "../../harness/experiment.ts";
import { inLab, setNetwork } from "../../harness/in-lab.ts";
import { makeMissing, shareMade } from "../../harness/missing.ts";
import { startK6 } from "../../lab/k6.ts";
import type { Lane } from "../../lab/lane.ts";
import { residentBytes, socketBytes } from "../../lab/cores.ts";
import { flag } from "../../model/options.ts";
import type { Load, LoadResult, Plan } from "../../model/plan.ts";
import {
  LOOK_EVERY_MS,
  MEMORY_ROW,
  memoryReport,
  type MemoryRow,
  memorySummary,
  PROTOCOLS,
  SEED,
  SETTINGS,
} from "./report.ts";

const planOf = (isQuick: boolean) =>
  isQuick ? { clients: [1, 20], rounds: 2 } : { clients: [1, 50, 100, 200], rounds: 5 };

type Crowd = Pick<MemoryRow, "id" | "protocol" | "clients" | "round">;

/** What connections over HTTP/2 and HTTP/3 take of the edge, the kernel and the clients. */
export const experiment = defineExperiment({
  options: { quick: flag("two small crowds: whether it works") },
  row: MEMORY_ROW,
  folderName: ({ quick }) => (quick ? "memory-quick" : undefined),
  question: ({ quick }) => ({ ...SETTINGS, ...planOf(quick) }),
  done: ({ quick }, rows) => shareMade(crowdsOf(quick), rows),
  measure: (run) =>
    makeMissing(crowdsOf(run.options.quick), run, async (crowd) => {
      // Each before an edge of its own: what an edge has grown to it keeps for the next.
      const lab = { arms: ["bare"], lanes: 1, tcpBuffers: SETTINGS.tcpBuffers } as const;
      const row = await inLab(lab, run.signal, ({ folder }, lane, signal) => download(lane, crowd, folder, signal));
      return row && [row];
    }),
  summarise: (run) => memorySummary(run, planOf(run.options.quick).rounds),
  report: memoryReport,
});

/** Every crowd once a round, in an order of its own. */
function crowdsOf(isQuick: boolean): Crowd[] {
  const { clients, rounds } = planOf(isQuick);
  return Array.from({ length: rounds }, (_, round) => {
    const crowds = PROTOCOLS.flatMap((protocol) =>
      clients.map((count) => ({ id: `${protocol}/${count}/${round}`, protocol, clients: count, round })),
    );
    return shuffle(crowds, seededRandom(SEED, "memory", String(round)));
  }).flat();
}

/** Undefined where it was interrupted. @throws UserError where a download fails, or a program does */
async function download(lane: Lane, crowd: Crowd, folder: string, signal: AbortSignal): Promise<MemoryRow | undefined> {
  const { protocol, clients } = crowd;
  await setNetwork(lane, { ...SETTINGS, lossRatio: 0 }, 1);
  const { edgePids, ...origin } = lane.origin("bare", "cubic");
  const edgeBytes = (): number => edgePids.reduce((sum, pid) => sum + residentBytes(pid), 0);
  const startedMs = Date.now();
  const load: Load = {
    id: crowd.id,
    clientAddress: "",
    origin,
    edgePids: [],
    timeoutMs: 300_000,
    switch: "wait",
    // A crowd's first flights fill the queue: a handshake that loses packets there is no reason to give up QUIC.
    quicTimeoutMs: 60_000,
    sessions: [
      {
        timed: true,
        firstProtocol: protocol,
        pages: [{ document: `/image/${SETTINGS.bytes}`, subresources: [] }],
        pauseAfterMs: 0,
      },
    ],
  };
  const plan: Plan = { control: null, crowd: clients, loads: [load] };
  const file = join(folder, "plan.json");
  writeFileSync(file, JSON.stringify(plan));
  const results: LoadResult[] = [];
  const k6 = startK6({
    script: "loads.ts",
    env: { PLAN: file },
    namespace: lane.clientNamespace,
    signal,
    onLine: (line) => results.push(JSON.parse(line) as LoadResult),
  });
  const ended = k6.ended.then(() => true);
  const looks: { edge: number; sockets: number; client: number }[] = [];
  do {
    const sockets = await socketBytes(lane.serverNamespace, protocol === "h3" ? "udp" : "tcp");
    looks.push({ edge: edgeBytes(), sockets, client: residentBytes(k6.pid) });
  } while (!(await Promise.race([ended, pause(LOOK_EVERY_MS, false)])));
  if (signal.aborted) return undefined;
  const about = `${clients} clients over ${protocol}: not all downloads were complete. What was measured is kept: the same command tries again`;
  await k6.assertEndedWell(about);
  const whole = results.filter(({ outcome, lastProtocol }) => outcome === "ok" && lastProtocol === protocol);
  if (whole.length < clients)
    throw new UserError([`${about}.`, ...new Set(results.map(({ error }) => error))].join("\n"));
  const seconds = (Date.now() - startedMs) / 1_000;
  const peak = (of: (look: (typeof looks)[number]) => number): number => Math.max(...looks.map(of));
  return {
    ...crowd,
    startedMs,
    seconds,
    edgePeakBytes: peak(({ edge }) => edge),
    socketPeakBytes: peak(({ sockets }) => sockets),
    serverPeakBytes: peak(({ edge, sockets }) => edge + sockets),
    clientPeakBytes: peak(({ client }) => client),
  };
}
