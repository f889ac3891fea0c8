import type { Transport } from "../../policy-api/decision/sample.ts";

/** A network that visitors of the demonstration come from, or are decided as if they came from it. */
export interface DemoNetwork {
  readonly about: string;
  readonly rttMs: number;
  readonly lossRatio: number;
  /** The share of UDP's packets that it drops beyond that. */
  readonly udpLossRatio?: number;
  /** Reserved for documentation (RFC 5398): nobody's, so whoever sees it knows that the visitor was made up. */
  readonly asn: number;
}

export const DEMO_NETWORKS: readonly DemoNetwork[] = [
  { about: "fibre, in the same town", rttMs: 6, lossRatio: 0, asn: 64_496 },
  { about: "cable, in the same country", rttMs: 22, lossRatio: 0.0005, asn: 64_497 },
  { about: "a phone on the move", rttMs: 55, lossRatio: 0.005, asn: 64_498 },
  { about: "an office whose network polices UDP", rttMs: 38, lossRatio: 0, udpLossRatio: 0.1, asn: 64_499 },
  { about: "another continent", rttMs: 170, lossRatio: 0.001, asn: 64_500 },
];

/** Their names, for the dashboard. */
export const DEMO_NAMES: ReadonlyMap<number, string> = new Map(DEMO_NETWORKS.map(({ asn, about }) => [asn, about]));

const PACKET_BYTES = 1_200;

/** What is counted of a connection. */
export interface Counted {
  readonly id: string;
  readonly sent: number;
  readonly lost: number;
}

export function lossOf({ lossRatio, udpLossRatio = 0 }: DemoNetwork, transport: Transport): number {
  return lossRatio + (transport === "quic" ? udpLossRatio : 0);
}

export function bytesOf({ sent }: Pick<Counted, "sent">): number {
  return sent * PACKET_BYTES;
}

/** What the TLS edge says in `request.cf` of a connection from this network. */
export function cfOf({ rttMs, asn }: DemoNetwork, transport: Transport, counted: Counted): Record<string, unknown> {
  return {
    httpProtocol: transport === "quic" ? "HTTP/3" : "HTTP/2",
    [transport === "quic" ? "clientQuicRtt" : "clientTcpRtt"]: rttMs,
    asn,
    adaptiveH3: {
      connectionId: counted.id,
      transport,
      minRttMs: rttMs,
      packetsSent: counted.sent,
      packetsLost: counted.lost,
      bytesSent: bytesOf(counted),
    },
  };
}

/** What the paths of emulated pages begin with. */
export const EMULATED_PREFIX = "/as/";

/** A browser that is decided as if it were on a network. Its address says so: `/as/NETWORK-VISITOR/`. */
export interface Emulated {
  readonly network: DemoNetwork;
  /** A number that the browser got with its link, so that each has a history of its own. */
  readonly visitor: number;
  /** The page below: empty for the first one. */
  readonly page: string;
}

export function emulatedAt(path: string): Emulated | undefined {
  const [, number = "", visitor = "", page = ""] = /^\/as\/(\d)-(\d{1,5})\/(\w*)$/.exec(path) ?? [];
  const network = DEMO_NETWORKS[Number(number || Number.NaN)];
  return network === undefined ? undefined : { network, visitor: Number(visitor) & 0xffff, page };
}

export function emulatedPath(network: DemoNetwork, visitor: number, page = ""): string {
  return `${EMULATED_PREFIX}${DEMO_NETWORKS.indexOf(network)}-${visitor}/${page}`;
}

/** `another continent: 170 ms a round trip, 0.1 % of packets lost (AS64500)`. */
export function networkText({ about, rttMs, lossRatio, udpLossRatio, asn }: DemoNetwork): string {
  const lost =
    udpLossRatio === undefined
      ? `${percent(lossRatio)} of packets lost`
      : `${percent(lossRatio)} of TCP's packets lost, ${percent(lossRatio + udpLossRatio)} of UDP's, which HTTP/3 uses`;
  return `${about}: ${rttMs} ms a round trip, ${lost} (AS${asn})`;
}

/** Marks a decision about somebody who is not where the figures say: one who is not there, or a browser's page below /as/. Empty for all others. */
export function madeUpText(asn: number | undefined, isThere: boolean): string {
  const network = DEMO_NETWORKS.find((each) => each.asn === asn);
  return network === undefined ? "" : `   [${isThere ? "a browser, as if on" : "made up"}: ${network.about}]`;
}

function percent(ratio: number): string {
  return `${Number((ratio * 100).toFixed(2))} %`;
}
