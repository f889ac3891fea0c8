import { join } from "node:path";
import { ROOT } from "../../infra/setup/build.ts";
import { UserError } from "../../infra/setup/programs.ts";
import { startProgram } from "../../infra/workerd/processes.ts";
import { startLab } from "../lab/lab.ts";
import { K6_PROGRAM } from "../lab/programs.ts";
import { residentBytes, socketMemory } from "./reading.ts";
import type { MemoryRow } from "./row.ts";

/** Every figure is the most of what was seen so often. */
const LOOK_EVERY_MS = 50;

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
}

/**
 * One crowd before an edge of its own: what an edge has grown to it keeps for the next.
 *
 * @throws UserError where a download fails, or a program does
 */
export async function measureCrowd(
  { protocol, clients, round }: Crowd,
  { bytes, rateMbps, delayMs, queueBytes }: CrowdSettings,
  signal: AbortSignal,
): Promise<MemoryRow | undefined> {
  const lab = await startLab({ arms: ["bare"], lanes: 1 });
  try {
    const [lane] = lab.lanes;
    if (lane === undefined) throw new Error("A lab has a lane.");
    const line = { rateMbps, delayMs, queueBytes };
    await lane.path.set({ seed: 1, aToB: line, bToA: { ...line, lossRatio: 0 } });
    const { address, port, caFile, edgePid } = lane.origin("bare", "cubic");
    const transport = protocol === "h3" ? "udp" : "tcp";
    const edgeBeforeBytes = residentBytes(edgePid);
    const socketsBefore = socketMemory()[transport];
    const peak = { edge: 0, client: 0, sockets: 0 };
    const said: string[] = [];
    const startedMs = Date.now();
    const k6 = startProgram("ip", {
      args: [
        ["netns", "exec", lane.clientNamespace, K6_PROGRAM, "run", "--quiet", "--no-usage-report"],
        ["--vus", String(clients), "--iterations", String(clients)],
        ["-e", `URL=https://${address}:${port}/image/${bytes}`, "-e", `PROTOCOL=${protocol}`, "-e", `CA=${caFile}`],
        join(ROOT, "bench/memory/downloads.ts"),
      ].flat(),
      env: { K6_AUTO_EXTENSION_RESOLUTION: "false" },
      onLine: (text) => said.push(text),
      onErrorLine: (text) => said.push(text),
      graceMs: 2_000,
    });
    const stop = (): void => void k6.stop("SIGKILL");
    signal.addEventListener("abort", stop, { once: true });
    const look = (): void => {
      peak.edge = Math.max(peak.edge, residentBytes(edgePid));
      peak.client = Math.max(peak.client, residentBytes(k6.pid));
      peak.sockets = Math.max(peak.sockets, socketMemory()[transport] - socketsBefore);
    };
    const looking = setInterval(look, LOOK_EVERY_MS);
    const why = await Promise.race([k6.ended, lab.failed]);
    clearInterval(looking);
    signal.removeEventListener("abort", stop);
    await k6.stop("SIGKILL");
    if (signal.aborted) return undefined;
    if (why !== "exit code 0")
      throw new UserError(
        [
          `${clients} clients over ${protocol}: not all downloads were complete (${why}).`,
          ...new Set(said.slice(-10)),
        ].join("\n"),
      );
    return {
      id: `${protocol}/${clients}/${round}`,
      protocol,
      clients,
      round,
      startedMs,
      seconds: (Date.now() - startedMs) / 1_000,
      edgeBeforeBytes,
      edgePeakBytes: peak.edge,
      clientPeakBytes: peak.client,
      socketPeakBytes: peak.sockets,
    };
  } finally {
    await lab.stop();
  }
}
