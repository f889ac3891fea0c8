import { RATE_GATE_BYTES } from "../policy-api/decision/connections.ts";
import type { RequestFacts } from "../policy-api/decision/facts.ts";
import type { PathSample, Transport } from "../policy-api/decision/sample.ts";
import type { Stack } from "../policy-api/decision/stack.ts";
import type { Settings } from "./settings.ts";

/** What `request.cf` says about a request's connection. */
export interface ConnectionFacts {
  /** The inputs of a decision. */
  readonly facts: Omit<RequestFacts, "path">;
  readonly httpProtocol: string;
  readonly continent?: string | undefined;
  readonly longitude?: number | undefined;
  /** Whether the TLS edge has set CF-Connecting-IP. Otherwise a visitor may have set it. */
  readonly addressTrusted: boolean;
  /** The reading of this connection that came with the request. */
  readonly sample?: PathSample | undefined;
  /** Its delivery rate whatever it has sent, bytes per second: for whoever knows from elsewhere how much that was. */
  readonly anyRateBps?: number | undefined;
  /** Whether the TLS edge also posts samples of this connection: then this reading need not go to the store. */
  readonly edgePostsSamples: boolean;
}

type Loose = Readonly<Record<string, unknown>>;

/**
 * Reads `request.cf`. It is undefined in tests, a placeholder in `wrangler dev`, and Cloudflare's own on its network.
 * Our TLS edge writes the same names, and an object `adaptiveH3` with what Cloudflare does not show here.
 *
 * A field of another type counts as a missing field, and a figure of 0 as not known.
 */
export function connectionFacts(cf: unknown, settings: Pick<Settings, "edge">, nowMs: number): ConnectionFacts {
  const fields = record(cf);
  const own = record(fields["adaptiveH3"]);
  const httpProtocol = text(fields["httpProtocol"]) ?? "";
  const transport: Transport = httpProtocol === "HTTP/3" ? "quic" : "tcp";
  const rttMs = positive(fields[transport === "quic" ? "clientQuicRtt" : "clientTcpRtt"]);
  const minRttMs = positive(own["minRttMs"]);
  const bytesSent = counter(own["bytesSent"]);
  // A sender that has sent little has measured its own pauses. So has one that does not say how much it sent (Cloudflare).
  const rated = bytesSent !== undefined && bytesSent >= RATE_GATE_BYTES;
  const anyRateBps = positive(record(fields["edgeL4"])["deliveryRate"]);
  const deliveryRateBps = rated ? anyRateBps : undefined;
  const connectionId = text(own["connectionId"]);
  const edgePostsSamples = settings.edge === "adaptive-h3" && connectionId !== undefined;
  const longitude = Number(fields["longitude"] ?? Number.NaN);
  const sample: PathSample | undefined =
    rttMs === undefined
      ? undefined
      : {
          transport,
          // Cloudflare does not name connections. A name is needed only to continue counters, and it gives none of
          // those.
          connectionId: connectionId ?? "-",
          atMs: nowMs,
          rttMs,
          minRttMs,
          packetsSent: counter(own["packetsSent"]),
          packetsLost: counter(own["packetsLost"]),
          bytesSent,
          busyMs: counter(own["busyMs"]),
          deliveryRateBps,
          closing: false,
        };
  return {
    facts: {
      transport,
      // On a second page the smoothed RTT includes the queue of the first. The smallest one is too small where the delay varies.
      rttMs: positive(own["firstRttMs"]) ?? minRttMs ?? rttMs,
      minRttMs,
      deliveryRateBps,
      asn: positive(fields["asn"]),
      country: text(fields["country"]),
    },
    httpProtocol,
    continent: text(fields["continent"]),
    longitude: Number.isFinite(longitude) ? longitude : undefined,
    addressTrusted: edgePostsSamples || (settings.edge === "cloudflare" && text(fields["colo"]) !== undefined),
    sample,
    anyRateBps,
    edgePostsSamples,
  };
}

/** The stack that serves, as our TLS edge names it with every request. Null where the edge is another one, and names none. */
export function servingStack(cf: unknown, { edge }: Pick<Settings, "edge">): Stack | null {
  const own = record(record(record(cf)["adaptiveH3"])["stack"]);
  const tcp = text(own["tcp"]);
  return edge !== "adaptive-h3" || tcp === undefined ? null : { tcp, quic: text(own["quic"]) ?? null };
}

/** A connection that has sent this many packets shows something of its loss: a page of 150 kB. */
const SHOWS_LOSS_PACKETS = 100;

/**
 * The reading that goes to the store. Our TLS edge posts this connection's samples too, but later. If this one shows much, the
 * next navigation must know it, even over another connection: else the answer would flap. A sample that arrives twice counts
 * once. Cloudflare counts no packets, and its RTT comes with every request anew: alone, such a reading changes no answer.
 *
 * @param hasMore Whether there is more to send to the store about this client.
 */
export function keptSample({ edgePostsSamples, sample }: ConnectionFacts, hasMore: boolean): PathSample | undefined {
  if (edgePostsSamples) return (sample?.packetsSent ?? 0) >= SHOWS_LOSS_PACKETS ? sample : undefined;
  return hasMore || sample?.packetsSent !== undefined ? sample : undefined;
}

function record(value: unknown): Loose {
  return typeof value === "object" && value !== null ? (value as Loose) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value.length <= 64 ? value : undefined;
}

function positive(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 && Number.isFinite(value) ? value : undefined;
}

function counter(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}
