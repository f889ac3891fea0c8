import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { count, percent } from "../../policy-api/cli/quantities.ts";
import type { PathSample, Transport } from "../../policy-api/decision/sample.ts";
import type { PageReport } from "../../policy-api/visitors/page-report.ts";
import { REPORT_PATH } from "../../worker/reporter/csp.ts";
import { demoLoadMs } from "./demo-loads.ts";
import { DRAWN } from "./first-policy.ts";
import { bytesOf, cfOf, type Counted, DEMO_NETWORKS, type DemoNetwork, lossOf } from "./demo-networks.ts";

/** Of a page, as packets, and as bytes of its files. */
const PACKETS = 300;
const PAGE_BYTES = 1_000_000;
/** Of a visit. An offer acts on the second page first: a shorter visit would show nothing of it. */
const PAGES_MIN = 2;
const PAGES_MAX = 5;
const PAUSE_MS = 700;
/** Visitors in each /24. All of a /24 are on one network, as neighbours are. */
const NEIGHBOURS = 8;
const CLIENTS = 256 * NEIGHBOURS;
/** First each of them comes once, so fast that all have come within two minutes. Then some come again. */
const FIRST_VISITS_A_SECOND = 25;
const VISITS_A_SECOND = 3;
/** ISO 3166-1 leaves it to its users: nobody's, as the networks' numbers. */
const COUNTRY = "ZZ";

/** What a dashboard of the demonstration says about them. */
export const INVENTED =
  `Emulated: the visitors are invented, and so are the times that their pages report. There are ${count(CLIENTS)} of them, and within two minutes ` +
  `all have come. ${percent(DRAWN)} draw their answer, to compare HTTP/3 with HTTP/2. Nobody has the numbers of their networks.`;

interface Sockets {
  readonly visitorsSocket: string;
  readonly samplesSocket: string;
}

/** The address of a visitor who is not there: one of those for benchmarks (RFC 2544), and by its third number on a network. */
export function demoAddress(client: number): { readonly address: string; readonly network: DemoNetwork } {
  const third = client % 256;
  const network = DEMO_NETWORKS[third % DEMO_NETWORKS.length] as DemoNetwork;
  return { network, address: `198.18.${third}.${1 + (Math.floor(client / 256) % NEIGHBOURS)}` };
}

/** Whether a decision is about one of them. */
export function isDemoVisitor({ country }: { readonly country?: string | undefined }): boolean {
  return country === COUNTRY;
}

/**
 * Sends workerd visitors who are not there: pages as the TLS edge asks for them, readings as it posts them, and reports as pages
 * send them. They go on until `signal` aborts; what fails is left out, as for any visitor.
 */
export async function sendDemoVisitors(sockets: Sockets, signal: AbortSignal, random = Math.random): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  // As a browser keeps them.
  const offered = new Set<string>();
  try {
    for (let visits = 0; !signal.aborted; visits++) {
      const isFirst = visits < CLIENTS;
      const client = demoAddress(isFirst ? visits : Math.floor(random() * CLIENTS));
      void visit({ sockets, agent, offered, random, ...client }, signal).catch(() => undefined);
      const aSecond = isFirst ? FIRST_VISITS_A_SECOND : VISITS_A_SECOND;
      await pause(1_000 / aSecond, undefined, { signal }).catch(() => undefined);
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
  /** The addresses that hold an offer. */
  readonly offered: Set<string>;
  readonly random: () => number;
}

async function visit(own: Visit, signal: AbortSignal): Promise<void> {
  const { sockets, agent, network, address, offered, random } = own;
  const pages = PAGES_MIN + Math.floor(random() * (PAGES_MAX - PAGES_MIN + 1));
  const connections = new Map<Transport, { id: string; sent: number; lost: number }>();
  for (let page = 0; page < pages && !signal.aborted; page++) {
    // As a browser: an offer acts on the next page, and `clear` too.
    const transport: Transport = offered.has(address) ? "quic" : "tcp";
    const opened = !connections.has(transport);
    const connection = connections.get(transport) ?? { id: idOf(random), sent: 20, lost: 0 };
    connections.set(transport, connection);
    const cf = { ...cfOf(network, transport, connection), country: COUNTRY };
    const headers = {
      host: "localhost",
      "cf-connecting-ip": address,
      "mf-cf-blob": JSON.stringify(cf),
    };
    const { altSvc, token } = await call(agent, sockets.visitorsSocket, {
      path: "/",
      headers: { ...headers, "sec-fetch-dest": "document" },
    });
    const loadMs = demoLoadMs({ network, transport, opened, random });
    await pause(loadMs, undefined, { signal });
    if (token !== undefined) {
      const options = { path: REPORT_PATH, method: "POST", headers };
      await call(agent, sockets.visitorsSocket, options, reportText({ token, network, transport, opened, loadMs }));
    }
    const loss = lossOf(network, transport);
    for (let packet = 0; packet < PACKETS; packet++) if (random() < loss) connection.lost++;
    connection.sent += PACKETS;
    await post(own, transport, connection, page === pages - 1);
    if (altSvc?.startsWith("h3") === true) offered.add(address);
    else if (altSvc !== undefined) offered.delete(address);
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

interface Loaded {
  readonly token: string;
  readonly network: DemoNetwork;
  readonly transport: Transport;
  readonly opened: boolean;
  readonly loadMs: number;
}

/** What the reporter of a page would send. */
function reportText({ token, network: { rttMs }, transport, opened, loadMs }: Loaded): string {
  const protocol = transport === "quic" ? "h3" : "h2";
  const connectMs = opened ? rttMs : 0;
  const report: PageReport = {
    token,
    protocol,
    connectMs,
    ttfbMs: connectMs + rttMs,
    loadMs,
    atMs: loadMs,
    files: [{ protocol, count: 1, bytes: PAGE_BYTES }],
    connections: [],
  };
  return JSON.stringify(report);
}

function idOf(random: () => number): string {
  return Array.from({ length: 16 }, () => Math.floor(random() * 16).toString(16)).join("");
}

/** Resolves with the answer's Alt-Svc, and with the token of a page that is asked to report. */
function call(
  agent: Agent,
  socketPath: string,
  options: { readonly path: string; readonly method?: string; readonly headers: Readonly<Record<string, string>> },
  body?: string,
): Promise<{ readonly altSvc: string | undefined; readonly token: string | undefined }> {
  return new Promise((resolve, reject) => {
    const asked = request({ agent, socketPath, ...options, headers: { ...options.headers } }, (answer) => {
      const token = /\bh3;desc="([^"]+)"/.exec(String(answer.headers["server-timing"] ?? ""))?.[1];
      answer.resume().on("end", () => resolve({ altSvc: answer.headers["alt-svc"], token }));
      answer.on("error", reject);
    });
    asked.on("error", reject).end(body);
  });
}
