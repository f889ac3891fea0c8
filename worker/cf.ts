import { RATE_GATE_BYTES } from "../policy-api/core/estimator.ts";
import type { RequestFacts } from "../policy-api/core/facts.ts";
import type { PathSample, Transport } from "../policy-api/core/sample.ts";
import type { Settings } from "./settings.ts";

/** What `request.cf` says about a request's connection, and whether the client's address can be believed. */
export interface ConnectionFacts {
  /** What a decision takes from it. */
  readonly facts: Omit<RequestFacts, "path">;
  readonly httpProtocol: string;
  readonly continent?: string | undefined;
  readonly longitude?: number | undefined;
  /** Whether CF-Connecting-IP was set by the edge in front, and not by a visitor. */
  readonly addressTrusted: boolean;
  /** The reading of this connection that came with the request. */
  readonly sample?: PathSample | undefined;
  /** Whether the edge also posts closing samples: then this reading is not worth sending to the store. */
  readonly edgePostsSamples: boolean;
}

type Loose = Readonly<Record<string, unknown>>;

/**
 * Reads `request.cf`, which is undefined in tests, a placeholder in `wrangler dev`, Cloudflare's on its network, and
 * our edge's on one's own machine: the same names, and one object `adaptiveH3` with what Cloudflare shows only in cfL4.
 * Takes nothing for granted: a field of another type is a field that is not there, and 0 is not known.
 */
export function connectionFacts(cf: unknown, settings: Pick<Settings, "edge">, nowMs: number): ConnectionFacts {
  const fields = record(cf);
  const own = record(fields["adaptiveH3"]);
  const httpProtocol = text(fields["httpProtocol"]) ?? "";
  const transport: Transport = httpProtocol === "HTTP/3" ? "quic" : "tcp";
  const rttMs = positive(fields[transport === "quic" ? "clientQuicRtt" : "clientTcpRtt"]);
  const bytesSent = counter(own["bytesSent"]);
  // A sender that has sent next to nothing has measured itself. Cloudflare does not say how much it was.
  const rated = bytesSent === undefined || bytesSent >= RATE_GATE_BYTES;
  const deliveryRateBps = rated ? positive(record(fields["edgeL4"])["deliveryRate"]) : undefined;
  const connectionId = text(own["connectionId"]);
  const edgePostsSamples = settings.edge === "adaptive-h3" && connectionId !== undefined;
  const longitude = Number(fields["longitude"] ?? Number.NaN);
  const sample: PathSample | undefined =
    rttMs === undefined
      ? undefined
      : {
          transport,
          // Cloudflare gives connections no name. Without counters none is needed: nothing counts on from it.
          connectionId: connectionId ?? "-",
          atMs: nowMs,
          rttMs,
          minRttMs: positive(own["minRttMs"]),
          packetsSent: counter(own["packetsSent"]),
          packetsLost: counter(own["packetsLost"]),
          bytesSent,
          deliveryRateBps,
          closing: false,
        };
  return {
    facts: {
      transport,
      // Times are over the smallest RTT: on a connection's second page the smoothed one holds the queue of the first.
      rttMs: sample?.minRttMs ?? rttMs,
      deliveryRateBps,
      asn: positive(fields["asn"]),
      country: text(fields["country"]),
    },
    httpProtocol,
    continent: text(fields["continent"]),
    longitude: Number.isFinite(longitude) ? longitude : undefined,
    addressTrusted: edgePostsSamples || (settings.edge === "cloudflare" && text(fields["colo"]) !== undefined),
    sample,
    edgePostsSamples,
  };
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
