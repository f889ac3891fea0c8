import { setTimeout as pause } from "node:timers/promises";
import { inLab } from "../../harness/in-lab.ts";
import { setNetwork } from "../../harness/set-network.ts";
import { startK6 } from "../../lab/k6.ts";
import type { Lane } from "../../lab/lane.ts";
import { residentBytes, socketBytes } from "../../lab/memory.ts";
import { LINUX_TCP_BUFFERS } from "../../lab/namespace.ts";
import type { MemoryRow } from "./row.ts";

export const SETTINGS = {
  bytes: 1_000_000,
  rateMbps: 100,
  delayMs: 25,
  queueBytes: 1_500_000,
  // As operators have them: with the bench's own each socket begins with room for 128 kB.
  tcpBuffers: LINUX_TCP_BUFFERS,
};

/** Between two looks. */
export const LOOK_EVERY_MS = 100;

export type Crowd = Pick<MemoryRow, "id" | "protocol" | "clients" | "round">;

/**
 * One crowd before an edge of its own: what an edge has grown to it keeps for the next. Undefined where it was interrupted.
 *
 * @throws UserError where a download fails, or a program does
 */
export async function measureCrowd(crowd: Crowd, signal: AbortSignal): Promise<MemoryRow | undefined> {
  const { tcpBuffers } = SETTINGS;
  return inLab({ arms: ["bare"], lanes: 1, tcpBuffers }, signal, (_, lane, either) => download(lane, crowd, either));
}

async function download(lane: Lane, crowd: Crowd, signal: AbortSignal): Promise<MemoryRow | undefined> {
  const { protocol, clients } = crowd;
  await setNetwork(lane, { ...SETTINGS, lossRatio: 0 }, 1);
  const { address, port, caFile, edgePids } = lane.origin("bare", "cubic");
  const edgeBytes = (): number => edgePids.reduce((sum, pid) => sum + residentBytes(pid), 0);
  const edgeBeforeBytes = edgeBytes();
  const startedMs = Date.now();
  const k6 = startK6({
    script: "downloads.ts",
    env: { CLIENTS: clients, PROTOCOL: protocol, ADDRESS: address, PORT: port, CA: caFile, BYTES: SETTINGS.bytes },
    namespace: lane.clientNamespace,
    signal,
  });
  const ended = k6.ended.then(() => true);
  const looks: { edge: number; sockets: number; client: number }[] = [];
  do {
    const sockets = await socketBytes(lane.serverNamespace, protocol === "h3" ? "udp" : "tcp");
    looks.push({ edge: edgeBytes(), sockets, client: residentBytes(k6.pid) });
  } while (!(await Promise.race([ended, pause(LOOK_EVERY_MS, false)])));
  if (signal.aborted) return undefined;
  await k6.assertEndedWell(
    `${clients} clients over ${protocol}: not all downloads were complete. What was measured is kept: the same command tries again`,
  );
  return {
    ...crowd,
    startedMs,
    seconds: (Date.now() - startedMs) / 1_000,
    looks: looks.length,
    edgeBeforeBytes,
    edgePeakBytes: Math.max(...looks.map(({ edge }) => edge)),
    socketPeakBytes: Math.max(...looks.map(({ sockets }) => sockets)),
    serverPeakBytes: Math.max(...looks.map(({ edge, sockets }) => edge + sockets)),
    clientPeakBytes: Math.max(...looks.map(({ client }) => client)),
  };
}
