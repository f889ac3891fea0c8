import { join } from "node:path";
import { EDGE_PROGRAM } from "../../infra/setup/build.ts";
import { UserError } from "../../base/user-error.ts";
import { startEdge } from "../../infra/workerd/edge.ts";
import type { RunningProgram } from "../../infra/workerd/processes.ts";
import { type Arm, ARM_SETUPS, type Quic } from "../model/arm.ts";
import type { Congestion } from "../model/congestion.ts";
import type { ArmSystem } from "./arm-system.ts";
import { CROWD_FLAGS } from "./crowd-flags.ts";
import { ownPrefix } from "./leftovers.ts";
import { makeNamespace, type TcpBuffers } from "./namespace.ts";
import { CLIENT_DEVICE, type EmulatedPath, SERVER_DEVICE, startPath } from "./path.ts";
import { startQuiche } from "./quiche.ts";
import { shell } from "./shell.ts";

/** Of RFC 5737's TEST-NET-1: nobody's address. The same in every lane, as each is a network of its own. */
const SERVER_ADDRESS = "192.0.2.1";
/** Lanes share 10.0.0.0/8 (RFC 1918): so many, with so many networks /24 each. */
export const LANES_MAX = 16;
const NETWORKS = 65_536 / LANES_MAX;

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
  /** What the server's TCP connections begin with, packets; undefined: the kernel's own. */
  setInitialWindow(packets: number | undefined): Promise<void>;
  /** For clients that do not choose their address: what they come from, from the next connection on. */
  setClientAddress(address: string): Promise<void>;
  /** An address in a /24 that no client of this lane came from before: the server knows nothing of either. */
  freshClient(): string;
}

export interface LaneSettings {
  /** For everything that goes with the lab. */
  readonly folder: string;
  readonly isTraced: boolean;
  /** Where every QUIC connection leaves its qlog, if anywhere. */
  readonly qlogFolder: string | undefined;
  /** Who serves HTTP/3, at an edge's address and port. */
  readonly quic: Quic;
  /** Of the server; the bench's own by default. */
  readonly tcpBuffers: TcpBuffers | undefined;
}

/**
 * Makes one lane. What it starts ends with `stack`.
 *
 * @param onFailure is told when a program ends that nobody stopped
 * @throws UserError
 */
export async function startLane(
  index: number,
  systems: readonly ArmSystem[],
  { folder, isTraced, qlogFolder, quic, tcpBuffers }: LaneSettings,
  stack: AsyncDisposableStack,
  onFailure: (why: string) => void,
): Promise<Lane> {
  let stopping = false;
  const tellWhenEnded = async (ended: Promise<string>): Promise<void> => {
    const why = await ended;
    if (!stopping) onFailure(why);
  };
  const client = `${ownPrefix()}c${index}`;
  const server = `${ownPrefix()}s${index}`;
  await makeNamespace(client);
  await makeNamespace(server, tcpBuffers);
  const clientNetwork = `10.${(index * NETWORKS) / 256}.0.0/${16 - Math.log2(NETWORKS / 256)}`;
  const address = (network: number): string => {
    const number = index * NETWORKS + network;
    return `10.${number >> 8}.${number & 255}.1`;
  };
  const path = await startPath(
    { client, server, clientAddress: address(0), clientNetwork, serverAddress: SERVER_ADDRESS },
    folder,
  );
  stack.defer(() => path.stop());
  void tellWhenEnded(path.failed);
  // A client may send from any address of the network, and takes what comes for any.
  await shell("ip", "-n", client, "route", "add", "local", clientNetwork, "dev", "lo");

  // One certificate for all: the first edge makes it.
  const stateDir = join(folder, "certificate");
  const caFile = join(stateDir, "dev-cert.pem");
  const origins = new Map<string, Origin>();
  // Edges before what takes their certificate.
  const inOrder = systems.toSorted((one, other) => Number(one.quic !== undefined) - Number(other.quic !== undefined));
  for (const [number, system] of inOrder.entries()) {
    const { arm, congestions } = system;
    const first = 8000 + 10 * number;
    const startOwnQuic = async (port: number, name: Exclude<Quic, "quic-go">): Promise<RunningProgram> => {
      const place = { address: `${SERVER_ADDRESS}:${port}`, stateDir, namespace: server, samples: system.samples };
      const program = await startQuiche(name, place);
      stack.defer(() => program.stop());
      void tellWhenEnded(program.ended.then((why) => `The QUIC server of ${arm} ended by itself (${why}).`));
      return program;
    };
    if (system.quic !== undefined) {
      const program = await startOwnQuic(first, system.quic);
      const origin = { host: "localhost", address: SERVER_ADDRESS, port: first, caFile, spkiSha256: "" };
      for (const congestion of congestions)
        origins.set(`${arm} ${congestion}`, { ...origin, edgePids: [program.pid], traceFile: undefined });
      continue;
    }
    const traceFile = isTraced ? join(folder, `trace-${index}-${number}.jsonl`) : undefined;
    const edge = await startEdge({
      program: EDGE_PROGRAM,
      listen: congestions.map(
        (name, i) => `${SERVER_ADDRESS}:${first + i},congestion=${name}${quic === "quic-go" ? "" : ",http3=off"}`,
      ),
      upstream: system.upstream,
      samples: system.samples,
      stateDir,
      flags: [
        ["-host", SERVER_ADDRESS],
        CROWD_FLAGS,
        traceFile === undefined ? [] : ["-trace", traceFile],
        qlogFolder === undefined ? [] : ["-qlog", qlogFolder],
        ARM_SETUPS[arm].edgeFlags ?? [],
      ].flat(),
      networkNamespace: server,
      // Only what it says when it ends by itself matters here; failed loads say why themselves.
      onErrorLine: () => undefined,
    });
    stack.defer(() => edge.program.stop());
    void tellWhenEnded(edge.program.ended.then((why) => `The edge of ${arm} ended by itself (${why}).`));
    const offersQuic = ARM_SETUPS[arm].hasWorker && arm !== "fixed-h1" && arm !== "fixed-h2";
    for (const [i, congestion] of congestions.entries()) {
      const own = quic !== "quic-go" && offersQuic ? await startOwnQuic(first + i, quic) : undefined;
      origins.set(`${arm} ${congestion}`, {
        host: "localhost",
        address: SERVER_ADDRESS,
        port: first + i,
        caFile,
        spkiSha256: edge.spkiSha256,
        edgePids: [edge.program.pid, ...(own === undefined ? [] : [own.pid])],
        traceFile,
      });
    }
  }
  // The last to be made is the first to be undone: from then on programs may end.
  stack.defer(() => {
    stopping = true;
  });
  let clients = 0;
  let initialWindow: number | undefined;
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
    setInitialWindow: async (packets) => {
      if (packets === initialWindow) return;
      initialWindow = packets;
      const route = ["-n", server, "route", "change", clientNetwork, "dev", SERVER_DEVICE];
      await shell("ip", ...route, ...(packets === undefined ? [] : ["initcwnd", String(packets)]));
    },
    setClientAddress: async (from) => {
      await shell("ip", "-n", client, "route", "replace", `${SERVER_ADDRESS}/32`, "dev", CLIENT_DEVICE, "src", from);
    },
    freshClient: () => {
      if (++clients >= NETWORKS)
        throw new UserError(
          `All ${NETWORKS} client networks of a lane were used: the same command goes on with new ones.`,
        );
      return address(clients);
    },
  };
}
