import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { PathSample, Transport } from "../../policy-api/decision/sample.ts";
import { bytesOf, cfOf, type Counted, DEMO_NETWORKS, type DemoNetwork, lossOf } from "./demo-networks.ts";

/** Of a page, as packets. */
const PACKETS = 300;
const PAGES_MAX = 4;
const PAUSE_MS = 700;
const VISITS_A_SECOND = 3;

interface Sockets {
  readonly visitorsSocket: string;
  readonly samplesSocket: string;
}

/**
 * Sends workerd visitors who are not there: pages as the TLS edge asks for them, and readings as it posts them. Addresses are those for
 * benchmarks (198.18.0.0/15, RFC 2544). They go on until `signal` aborts; what fails is left out, as for any visitor.
 */
export async function sendDemoVisitors(sockets: Sockets, signal: AbortSignal, random = Math.random): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  try {
    while (!signal.aborted) {
      // Most visitors come again, and from the network that they came from.
      const client = Math.floor(random() * 2_000);
      const network = DEMO_NETWORKS[client % DEMO_NETWORKS.length];
      if (network !== undefined)
        void visit({ sockets, agent, network, address: `198.18.${client >> 8}.${client & 255}`, random }, signal).catch(
          () => undefined,
        );
      await pause(1_000 / VISITS_A_SECOND, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    agent.destroy();
  }
}

interface Visit {
  readonly sockets: Sockets;
  readonly agent: Agent;
  readonly network: DemoNetwork;
  readonly address: string;
  readonly random: () => number;
}

async function visit(own: Visit, signal: AbortSignal): Promise<void> {
  const { sockets, agent, network, address, random } = own;
  const pages = 1 + Math.floor(random() * PAGES_MAX);
  let transport: Transport = "tcp";
  const connections = new Map<Transport, { id: string; sent: number; lost: number }>();
  for (let page = 0; page < pages && !signal.aborted; page++) {
    const connection = connections.get(transport) ?? { id: idOf(random), sent: 20, lost: 0 };
    connections.set(transport, connection);
    const altSvc = await call(agent, sockets.visitorsSocket, {
      path: "/",
      headers: {
        host: "localhost",
        "sec-fetch-dest": "document",
        "cf-connecting-ip": address,
        "mf-cf-blob": JSON.stringify(cfOf(network, transport, connection)),
      },
    });
    const loss = lossOf(network, transport);
    for (let packet = 0; packet < PACKETS; packet++) if (random() < loss) connection.lost++;
    connection.sent += PACKETS;
    await post(own, transport, connection, page === pages - 1);
    // As a browser: an offer acts on the next page, and `clear` too.
    if (altSvc !== undefined) transport = altSvc.startsWith("h3") ? "quic" : "tcp";
    await pause(PAUSE_MS * (0.5 + random()), undefined, { signal });
  }
}

async function post(
  { agent, sockets, network, address }: Visit,
  transport: Transport,
  counted: Counted,
  closing: boolean,
): Promise<void> {
  const sample: PathSample & { readonly clientAddress: string } = {
    clientAddress: address,
    transport,
    connectionId: counted.id,
    atMs: Date.now(),
    rttMs: network.rttMs,
    minRttMs: network.rttMs,
    packetsSent: counted.sent,
    packetsLost: counted.lost,
    bytesSent: bytesOf(counted),
    closing,
  };
  const body = JSON.stringify({ samples: [sample] });
  await call(agent, sockets.samplesSocket, { path: "/samples", method: "POST", headers: { host: "localhost" } }, body);
}

function idOf(random: () => number): string {
  return Array.from({ length: 16 }, () => Math.floor(random() * 16).toString(16)).join("");
}

/** Resolves with the answer's Alt-Svc. */
function call(
  agent: Agent,
  socketPath: string,
  options: { readonly path: string; readonly method?: string; readonly headers: Readonly<Record<string, string>> },
  body?: string,
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request({ agent, socketPath, ...options, headers: { ...options.headers } }, (answer) => {
      answer.resume().on("end", () => resolve(answer.headers["alt-svc"]));
      answer.on("error", reject);
    });
    asked.on("error", reject).end(body);
  });
}
