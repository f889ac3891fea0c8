import { setTimeout as pause } from "node:timers/promises";
import { UserError } from "../../../base/user-error.ts";
import type { TcpBuffers } from "../../lab/namespace.ts";
import { startLab } from "../../lab/lab.ts";
import { startK6 } from "../../lab/k6.ts";
import { residentBytes, socketBytes } from "../../lab/memory.ts";
import type { MemoryRow } from "./row.ts";

/** Between two looks. */
export const LOOK_EVERY_MS = 100;

export interface Crowd {
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
  { protocol, clients, round }: Crowd,
  { bytes, rateMbps, delayMs, queueBytes, tcpBuffers }: CrowdSettings,
  signal: AbortSignal,
): Promise<MemoryRow | undefined> {
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
    const peak = { looks: 0, edge: 0, sockets: 0, server: 0, client: 0 };
    while (!over.signal.aborted) {
      const sockets = await socketBytes(lane.serverNamespace, protocol === "h3" ? "udp" : "tcp");
      const edge = edgeBytes();
      peak.looks++;
      peak.edge = Math.max(peak.edge, edge);
      peak.sockets = Math.max(peak.sockets, sockets);
      peak.server = Math.max(peak.server, edge + sockets);
      peak.client = Math.max(peak.client, residentBytes(k6.pid));
      await Promise.race([end, pause(LOOK_EVERY_MS)]);
    }
    await end;
    if (signal.aborted) return undefined;
    await k6.assertEndedWell(
      `${clients} clients over ${protocol}: not all downloads were complete. What was measured is kept: the same command tries again`,
    );
    return {
      id: crowdId({ protocol, clients, round }),
      protocol,
      clients,
      round,
      startedMs,
      seconds: (Date.now() - startedMs) / 1_000,
      looks: peak.looks,
      edgeBeforeBytes,
      edgePeakBytes: peak.edge,
      socketPeakBytes: peak.sockets,
      serverPeakBytes: peak.server,
      clientPeakBytes: peak.client,
    };
  } finally {
    await stack.disposeAsync();
  }
}

/** What a run knows its crowds by. */
export function crowdId({ protocol, clients, round }: Crowd): string {
  return `${protocol}/${clients}/${round}`;
}
