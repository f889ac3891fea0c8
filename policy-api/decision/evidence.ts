import type { ConnectionSeen, History } from "./facts.ts";
import { lnLeft } from "./fading.ts";

/** What a client's connections say together. Each counts by its age, and by how near its RTT is to the one at hand. */
export interface Evidence {
  readonly tcp: PacketCounts;
  readonly quic: PacketCounts;
  /** The largest delivery rate of them, bytes per second; 0: none is known. */
  readonly rateBps: number;
  /** Whether a QUIC connection sent so much that its slow start may have lost some of it. */
  readonly mayOvershoot: boolean;
}

export interface PacketCounts {
  /** Packets. */
  readonly sent: number;
  readonly lost: number;
  /** Of connections that carried enough to tell their speed: how many, and the sum of ln(bytes per millisecond). */
  readonly speeds: number;
  readonly logSpeed: number;
}

/** A connection's RTT tells its path from another one behind the same address: a factor of 1.25 is one deviation of ln RTT. */
const RTT_VARIANCE = Math.log(1.25) ** 2;
/** Below this an RTT no longer tells paths apart, milliseconds. */
const RTT_OFFSET_MS = 2;

/** Of the recorded QUIC connections a third of those that sent 10 MB lost packets in slow start, and none that sent 1 MB. */
const OVERSHOT_PACKETS = 4_000;
/** No connection sends more: 1.4 TB. */
const PACKETS_BELIEVED = 1e9;
/** Less than this tells of handshakes and small files, bytes. */
const SPEED_BYTES_MIN = 100_000;

const NONE: readonly ConnectionSeen[] = [];

/** @param rttMs Of the connection at hand. Undefined: all connections are as near. */
export function evidenceOf({ connections = NONE }: History, rttMs: number | undefined): Evidence {
  const tcp = { sent: 0, lost: 0, speeds: 0, logSpeed: 0 };
  const quic = { sent: 0, lost: 0, speeds: 0, logSpeed: 0 };
  let mayOvershoot = false;
  let rateBps = 0;
  // Counted by index: a decision spends a good part of its time here.
  for (let i = 0; i < connections.length; i++) {
    const one = connections[i] as ConnectionSeen;
    const { packets, lost, ageMs, bytes = 0, busyMs = 0 } = one;
    const of = one.transport === "quic" ? quic : tcp;
    // No counter shows other figures: they say nothing.
    const isCounted = packets > 0 && packets <= PACKETS_BELIEVED;
    if (of === quic && isCounted && packets >= OVERSHOT_PACKETS) mayOvershoot = true;
    if (!(ageMs >= 0)) continue;
    if ((one.deliveryRateBps ?? 0) > rateBps) rateBps = one.deliveryRateBps as number;
    const weight = Math.exp(lnLeft(ageMs) + lnNearness(rttMs, one.rttMs));
    if (bytes >= SPEED_BYTES_MIN && busyMs > 0) {
      of.speeds += weight;
      of.logSpeed += weight * Math.log(bytes / busyMs);
    }
    if (!(isCounted && lost >= 0 && lost <= packets)) continue;
    of.sent += weight * packets;
    of.lost += weight * lost;
  }
  return { tcp, quic, rateBps, mayOvershoot };
}

/**
 * The logarithm of how much a connection with another RTT says about this one's path, from 0 to 1. A normal curve over ln(a / b), whose square is taken as (a - b)^2 / (a b): near each other RTTs have the same by both, and this
 * takes no logarithm.
 */
function lnNearness(rttMs: number | undefined, theirs: number | undefined): number {
  // NaN, what is not above 0, and what has no end is no RTT.
  if (rttMs === undefined || theirs === undefined || !(isRtt(rttMs) && isRtt(theirs))) return 0;
  const apart = rttMs - theirs;
  return (-0.5 / RTT_VARIANCE) * (apart / (rttMs + RTT_OFFSET_MS)) * (apart / (theirs + RTT_OFFSET_MS));
}

function isRtt(rttMs: number): boolean {
  return rttMs > 0 && rttMs < Infinity;
}
