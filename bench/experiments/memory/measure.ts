import { setTimeout as pause } from "node:timers/promises";
import { UserError } from "../../../base/user-error.ts";
import { startK6 } from "../../lab/k6.ts";
import { startLab } from "../../lab/lab.ts";
import { residentBytes, socketBytes } from "../../lab/memory.ts";
import type { TcpBuffers } from "../../lab/namespace.ts";
import type { MemoryRow } from "./row.ts";

/** Between two looks. */
export const LOOK_EVERY_MS = 100;

export interface Crowd {
  readonly id: string;
  readonly protocol: "h2" | "h3";
  readonly clients: number;
  readonly round: number;
}

export interface CrowdSettings {
  readonly bytes: number;
  readonly rateMbps: number;
  readonly delayMs: number;
  readonly queueBytes: number;
  /** Of the server: as much as the kernel may hold for a socket. */
  readonly tcpBuffers: TcpBuffers;
}

/**
 * One crowd before an edge of its own: what an edge has grown to it keeps for the next. Undefined where it was interrupted.
 *
 * @throws UserError where a download fails, or a program does
 */
export async function measureCrowd(
  crowd: Crowd,
  { bytes, rateMbps, delayMs, queueBytes, tcpBuffers }: CrowdSettings,
  signal: AbortSignal,
): Promise<MemoryRow | undefined> {
  const { protocol, clients } = crowd;
  const lab = await startLab({ arms: ["bare"], lanes: 1, tcpBuffers });
  const stack = new AsyncDisposableStack();
  stack.defer(() => lab.stop());
  try {
    const [lane] = lab.lanes;
    if (lane === undefined) throw new Error("A lab has a lane.");
    const line = { rateMbps, delayMs, queueBytes };
    await lane.path.set({ seed: 1, aToB: line, bToA: { ...line, lossRatio: 0 } });
    const { address, port, caFile, edgePids } = lane.origin("bare", "cubic");
    const edgeBytes = (): number => edgePids.reduce((sum, pid) => sum + residentBytes(pid), 0);
    const edgeBeforeBytes = edgeBytes();
    if (signal.aborted) return undefined;
    const startedMs = Date.now();
    const k6 = startK6({
      script: "downloads.ts",
      env: { CLIENTS: clients, PROTOCOL: protocol, ADDRESS: address, PORT: port, CA: caFile, BYTES: bytes },
      namespace: lane.clientNamespace,
      signal,
    });
    stack.defer(() => k6.stop("SIGKILL"));
    const failed = lab.failed.then((why) => {
      throw new UserError(why);
    });
    const over = new AbortController();
    const end = Promise.race([k6.ended, failed]).finally(() => over.abort());
    const looks: { edge: number; sockets: number; client: number }[] = [];
    while (!over.signal.aborted) {
      const sockets = await socketBytes(lane.serverNamespace, protocol === "h3" ? "udp" : "tcp");
      looks.push({ edge: edgeBytes(), sockets, client: residentBytes(k6.pid) });
      await Promise.race([end, pause(LOOK_EVERY_MS)]);
    }
    await end;
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
  } finally {
    await stack.disposeAsync();
  }
}
