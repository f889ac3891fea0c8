import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { startProgram } from "../../../infra/workerd/processes.ts";
import type { TcpBuffers } from "../../lab/namespace.ts";
import { startLab } from "../../lab/lab.ts";
import { K6_PROGRAM } from "../../lab/programs.ts";
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
    const said: string[] = [];
    const startedMs = Date.now();
    const environment = {
      CLIENTS: clients,
      PROTOCOL: protocol,
      ADDRESS: address,
      PORT: port,
      CA: caFile,
      BYTES: bytes,
    };
    const k6 = startProgram("ip", {
      args: [
        ["netns", "exec", lane.clientNamespace, K6_PROGRAM, "run", "--quiet", "--no-usage-report"],
        Object.entries(environment).flatMap(([name, value]) => ["-e", `${name}=${value}`]),
        join(ROOT, "bench/instrument/k6/downloads.ts"),
      ].flat(),
      env: { K6_AUTO_EXTENSION_RESOLUTION: "false" },
      onLine: (text) => said.push(text),
      onErrorLine: (text) => said.push(text),
      graceMs: 2_000,
    });
    stack.defer(() => k6.stop("SIGKILL"));
    const stop = (): void => void k6.stop("SIGKILL");
    signal.addEventListener("abort", stop, { once: true });
    stack.defer(() => signal.removeEventListener("abort", stop));
    const over = new AbortController();
    const end = Promise.race([k6.ended, lab.failed]).then((why) => {
      over.abort();
      return why;
    });
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
    const ended = await end;
    if (signal.aborted) return undefined;
    if (ended !== "exit code 0")
      throw new UserError(
        [
          `${clients} clients over ${protocol}: not all downloads were complete (${ended}). What was measured is kept: the same command tries again.`,
          ...new Set(said.slice(-10)),
        ].join("\n"),
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
