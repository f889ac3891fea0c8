import type { PathSample, Transport } from "../decision/sample.ts";

/** What a server says of its side of a connection in `Server-Timing: cfL4`. Counters are those of the response's head. */
export type CfL4 = Omit<PathSample, "atMs" | "busyMs" | "closing">;

/** Cloudflare's own has about 250. */
export const CF_L4_MAX_LENGTH = 512;
/** With the prefix that a path sample gives it, it has at most 64 characters. */
const CONNECTION_ID = /^[\w-]{1,58}$/;
const TRANSPORT_OF: Readonly<Record<string, Transport>> = { TCP: "tcp", QUIC: "quic" };

/**
 * Reads `?proto=TCP&rtt=..&min_rtt=..&sent=..&lost=..&sent_bytes=..&delivery_rate=..&cid=..`, with RTTs in microseconds and
 * the rate in bytes per second. Cloudflare documents neither its fields nor their meaning, and older forms lack some. So a
 * field that is missing or of another form is not known, and so is a figure of 0, which early readings have. Without a
 * protocol or a connection's name there is nothing to keep: undefined.
 *
 * Whether Cloudflare's `lost` counts all packets that were ever declared lost is inferred. If it counts only those that are
 * missing now, the loss that follows from it is too small.
 */
export function parseCfL4(text: string): CfL4 | undefined {
  if (text.length > CF_L4_MAX_LENGTH) return undefined;
  // Of a field that stands there twice, the first one counts.
  const pairs = [...text.matchAll(/([^?&=]+)=([^&]*)/g)].toReversed();
  const fields = new Map(pairs.map(([, name, value = ""]) => [name, value]));
  const proto = fields.get("proto") ?? "";
  const connectionId = fields.get("cid") ?? "";
  if (!Object.hasOwn(TRANSPORT_OF, proto) || !CONNECTION_ID.test(connectionId)) return undefined;
  const count = (name: string): number | undefined => {
    const value = fields.get(name) ?? "";
    return /^\d{1,15}$/.test(value) ? Number(value) : undefined;
  };
  const positive = (name: string): number | undefined => count(name) || undefined;
  const milliseconds = (name: string): number | undefined => {
    const micros = positive(name);
    return micros && micros / 1000;
  };
  const packetsSent = positive("sent");
  return {
    transport: TRANSPORT_OF[proto] as Transport,
    connectionId,
    rttMs: milliseconds("rtt"),
    minRttMs: milliseconds("min_rtt"),
    packetsSent,
    // A count of lost packets means nothing without one of sent packets.
    packetsLost: packetsSent === undefined ? undefined : count("lost"),
    bytesSent: positive("sent_bytes"),
    deliveryRateBps: positive("delivery_rate"),
  };
}
