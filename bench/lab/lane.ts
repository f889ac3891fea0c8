import { join } from "node:path";
import { EDGE_PROGRAM, STOCK_EDGE_PROGRAM } from "../../infra/setup/build.ts";
import { UserError } from "../../base/user-error.ts";
import { startEdge } from "../../infra/workerd/edge.ts";
import { type Arm, ARM_SETUPS, type Quic } from "../model/arm.ts";
import { SITE_HOST } from "../model/browser-pages.ts";
import type { TcpSettings } from "../model/cell.ts";
import type { Congestion } from "../model/congestion.ts";
import { CROWD_FLAGS } from "./crowd-flags.ts";
import { ownPrefix } from "./leftovers.ts";
import { makeNamespace, setIn, type TcpBuffers } from "./namespace.ts";
import { DEVICE, type EmulatedPath, startPath } from "./path.ts";
import { QUICHE_PROGRAM } from "./programs.ts";
import { shell, startServer } from "./shell.ts";

/** Of RFC 5737's TEST-NET-1: nobody's address. The same in every lane, as each is a network of its own. */
export const SERVER_ADDRESS = "192.0.2.1";
/** Lanes share 10.0.0.0/8 (RFC 1918): so many, with so many networks /24 each. */
export const LANES_MAX = 16;
const NETWORKS = 65_536 / LANES_MAX;
/** From here on the kernel gives ports itself: a download beside a visit has one, edges have none. */
const EPHEMERAL_PORTS = 32_768;

/** What stands behind an edge of an arm, in every lane. */
export interface ArmSystem {
  readonly arm: Arm;
  /** Those that it serves: an arm whose policy depends on the congestion control has several systems. */
  readonly congestions: readonly Congestion[];
  /** Who answers the edge's requests, and who takes its samples: for the edge's flags. */
  readonly upstream: string;
  readonly samples: string;
}

/** Where a client of this lane finds an arm. */
export interface Origin {
  readonly host: string;
  readonly address: string;
  readonly port: number;
  /** The certificate to trust. */
  readonly caFile: string;
  /** Of its certificate's public key, base64, as Chromium wants it. */
  readonly spkiSha256: string;
  /** Of the processes that send an arm's pages: the edge, and the QUIC server beside it. */
  readonly edgePids: readonly number[];
  /** What the edge writes of its connections over time; undefined in a lab that traces nothing. */
  readonly traceFile: string | undefined;
}

/** A client's network and a server's, joined by one path, with an edge for each arm on the server's side. */
export interface Lane {
  readonly index: number;
  readonly clientNamespace: string;
  readonly serverNamespace: string;
  readonly path: EmulatedPath;
  origin(arm: Arm, congestion: Congestion): Origin;
  /** Of the server's TCP, from the next connection on; what is left out is the kernel's own. */
  setTcp(settings: Omit<TcpSettings, "cubic">): Promise<void>;
  /** For clients that do not choose their address: what they come from, from the next connection on. */
  setClientAddress(address: string): Promise<void>;
  /** Ends the TCP connections of the lane's clients to its edges, as a browser does that is closed. */
  endTcp(): Promise<void>;
  /** An address in a /24 that no client of this lane came from before: the server knows nothing of either. */
  freshClient(): string;
}

export interface LaneOptions {
  /** Whether edges write down what their connections are at, 20 times a second. */
  readonly isTraced?: boolean;
  /** Who serves HTTP/3 in every arm that has an edge; quic-go by default. */
  readonly quic?: Quic;
  /** Of the server's TCP; the bench's own, which are larger than Linux' by default. */
  readonly tcpBuffers?: TcpBuffers;
}

/**
 * Makes one lane. What it starts ends with `stack`.
 *
 * @param onFailure is told when a program has ended
 * @throws UserError
 */
export async function startLane(
  index: number,
  systems: readonly ArmSystem[],
  folder: string,
  options: LaneOptions,
  stack: AsyncDisposableStack,
  onFailure: (why: string) => void,
): Promise<Lane> {
  const client = `${ownPrefix()}c${index}`;
  const server = `${ownPrefix()}s${index}`;
  await makeNamespace(client);
  await makeNamespace(server, options.tcpBuffers);
  const clientNetwork = `10.${(index * NETWORKS) / 256}.0.0/${16 - Math.log2(NETWORKS / 256)}`;
  const clientAddress = (network: number): string => {
    const number = index * NETWORKS + network;
    return `10.${number >> 8}.${number & 255}.1`;
  };
  const ends = { client, server, clientAddress: clientAddress(0), clientNetwork, serverAddress: SERVER_ADDRESS };
  const path = await startPath(ends, folder, stack);
  void path.failed.then(onFailure);
  // A client may send from any address of the network, and takes what comes for any.
  await shell("ip", "-n", client, "route", "add", "local", clientNetwork, "dev", "lo");

  const origins = new Map<string, Origin>();
  // Edges first: the first of them makes the one certificate for all.
  const inOrder = systems.toSorted(
    ({ arm: one }, { arm: other }) =>
      Number(ARM_SETUPS[one].quic !== undefined) - Number(ARM_SETUPS[other].quic !== undefined),
  );
  for (const [number, system] of inOrder.entries()) {
    const place = { lane: `${index}-${number}`, server, firstPort: 8000 + 10 * number, folder };
    for (const [congestion, origin] of await startOrigins(system, place, options, stack, onFailure))
      origins.set(`${system.arm} ${congestion}`, origin);
  }
  let clients = 0;
  let tcp: Omit<TcpSettings, "cubic"> = {};
  return {
    index,
    clientNamespace: client,
    serverNamespace: server,
    path,
    origin: (arm, congestion) => {
      const origin = origins.get(`${arm} ${congestion}`);
      if (origin === undefined) throw new Error(`This lab has no arm ${arm} with ${congestion}.`);
      return origin;
    },
    setTcp: async (settings) => {
      const { initialWindow, slowStartAfterIdle = true } = settings;
      if (initialWindow !== tcp.initialWindow) {
        const route = ["-n", server, "route", "change", clientNetwork, "dev", DEVICE];
        await shell("ip", ...route, ...(initialWindow === undefined ? [] : ["initcwnd", String(initialWindow)]));
      }
      if (slowStartAfterIdle !== (tcp.slowStartAfterIdle ?? true))
        await setIn(server, "net.ipv4.tcp_slow_start_after_idle", slowStartAfterIdle ? "1" : "0");
      tcp = settings;
    },
    setClientAddress: async (from) => {
      await shell("ip", "-n", client, "route", "replace", `${SERVER_ADDRESS}/32`, "dev", DEVICE, "src", from);
    },
    endTcp: async () => {
      const toEdges = ["dst", SERVER_ADDRESS, "and", "dport", "<", `:${EPHEMERAL_PORTS}`];
      await shell("ip", "netns", "exec", client, "ss", "-K", "-t", "-a", ...toEdges);
    },
    freshClient: () => {
      if (++clients >= NETWORKS)
        throw new UserError(
          `All ${NETWORKS} client networks of a lane were used: the same command goes on with new ones.`,
        );
      return clientAddress(clients);
    },
  };
}

/** Starts what answers for an arm: an edge, on a port for each congestion control, or a QUIC server alone, or both. */
async function startOrigins(
  { arm, congestions, upstream, samples }: ArmSystem,
  { lane, server, firstPort, folder }: { lane: string; server: string; firstPort: number; folder: string },
  { isTraced = false, quic = "quic-go" }: LaneOptions,
  stack: AsyncDisposableStack,
  onFailure: (why: string) => void,
): Promise<(readonly [Congestion, Origin])[]> {
  const { quic: ownQuic, mode, edgeFlags = [], isStock = false } = ARM_SETUPS[arm];
  const stateDir = join(folder, "certificate");
  const caFile = join(stateDir, "dev-cert.pem");
  const place = { host: "localhost", address: SERVER_ADDRESS, caFile };
  const startQuic = async (port: number, name: Exclude<Quic, "quic-go">): Promise<number> => {
    const told = [`${SERVER_ADDRESS}:${port}`, name.replace("quiche-", ""), caFile, join(stateDir, "dev-key.pem")];
    const command = ["netns", "exec", server, QUICHE_PROGRAM, ...told, samples.replace(/^unix:/, "")];
    const { pid, failed } = await startServer(`The QUIC server of ${arm}`, ["ip", ...command], stack);
    void failed.then(onFailure);
    return pid;
  };
  if (ownQuic !== undefined) {
    const edgePids = [await startQuic(firstPort, ownQuic)];
    const origin = { ...place, port: firstPort, spkiSha256: "", edgePids, traceFile: undefined };
    return congestions.map((congestion) => [congestion, origin]);
  }
  const traceFile = isTraced ? join(folder, `trace-${lane}.jsonl`) : undefined;
  const http3 = quic === "quic-go" ? "" : ",http3=off";
  const { program, spkiSha256 } = await startEdge({
    program: isStock ? STOCK_EDGE_PROGRAM : EDGE_PROGRAM,
    listen: congestions.map((name, i) => `${SERVER_ADDRESS}:${firstPort + i},congestion=${name}${http3}`),
    upstream,
    samples,
    stateDir,
    flags: [
      // The address, and the names that browsers use. Firefox takes no pattern for all names under a top one.
      ["-host", SERVER_ADDRESS, "-host", "*.test", "-host", SITE_HOST],
      CROWD_FLAGS,
      traceFile === undefined ? [] : ["-config", `trace=${traceFile}`],
      edgeFlags,
    ].flat(),
    networkNamespace: server,
    // Only what it says when it ends by itself matters here; failed loads say why themselves.
    onErrorLine: () => undefined,
  });
  stack.defer(() => program.stop());
  void program.ended.then((why) => onFailure(`The edge of ${arm} ended by itself (${why}).`));
  const mayOffer = mode !== undefined && mode !== "fixed-h2";
  return Promise.all(
    congestions.map(async (congestion, i) => {
      const port = firstPort + i;
      const beside = quic !== "quic-go" && mayOffer ? [await startQuic(port, quic)] : [];
      return [congestion, { ...place, port, spkiSha256, edgePids: [program.pid, ...beside], traceFile }] as const;
    }),
  );
}
