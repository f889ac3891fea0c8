import type { ConnectionSeen } from "./facts.ts";
import { left } from "./fading.ts";
import { boolean, figure, list, object, oneOf, optional, type Read, type ReadObject, text } from "./parse.ts";
import { type PathSample, TRANSPORTS } from "./sample.ts";

const COUNTERS = {
  packetsSent: figure,
  packetsLost: figure,
  bytesSent: figure,
  /** How long at least one response was under way, until the client had it, milliseconds. */
  busyMs: figure,
} as const;
/** Cumulative counters of one connection. */
export type Counters = ReadObject<typeof COUNTERS>;

const readConnection = object({
  /** Opaque. Cloudflare names no connections: there all of a client's are one. */
  id: text(64),
  transport: oneOf(...TRANSPORTS),
  /** Of the newest sample, milliseconds since the epoch. */
  atMs: figure,
  /** The smallest RTT seen on it, milliseconds. */
  rttMs: optional(figure),
  /** The largest delivery rate that counted, bytes per second. */
  deliveryRateBps: optional(figure),
  closed: boolean(),
  ...COUNTERS,
  /** What it had counted when its client was forgotten: that counts no more. */
  forgotten: optional(object(COUNTERS)),
});
/** What is kept of one connection: the newest reading of its counters. Plain JSON. */
export type ConnectionRecord = Read<typeof readConnection>;

/** How many connections of a client are kept apart: those of its last visits, and of devices that share its address. */
export const CONNECTIONS = 8;

/** A client's connections, from a row, which is read like any input. */
export const readConnections = list(readConnection, 0, CONNECTIONS);

/**
 * A delivery rate counts if the connection sent this much: three rounds of slow start from the initial window of ten
 * segments (RFC 6928 section 2), 10 + 20 + 40 segments of 1,460 bytes. Before that a sender has measured its own pauses.
 */
export const RATE_GATE_BYTES = 70 * 1460;

const NOTHING: Counters = { packetsSent: 0, packetsLost: 0, bytesSent: 0, busyMs: 0 };

/**
 * Adds a sample. Counters are cumulative, so a record holds all evidence of its connection: a sample that comes twice,
 * or late, changes nothing. Pure, O(CONNECTIONS).
 */
export function addSample(connections: readonly ConnectionRecord[], sample: PathSample): readonly ConnectionRecord[] {
  const before = connections.find(({ id, transport }) => id === sample.connectionId && transport === sample.transport);
  if (before !== undefined && sample.atMs <= before.atMs) return connections;
  const record = recordOf(before, sample);
  const others = connections.filter((one) => one !== before);
  // Before the first that is no newer. Not sorted: each page adds some, and sorting takes longer than the rest of it.
  const at = others.findIndex(({ atMs }) => atMs <= record.atMs);
  const all = others.toSpliced(at < 0 ? others.length : at, 0, record);
  return all.length <= CONNECTIONS ? all : withoutLeast(all);
}

/**
 * Adds a sample to those that wait to be added, in the place of an older one of its connection where their counters go on: what a
 * record becomes by them is the same. So as many wait as there are connections. Pure.
 */
export function withSample(waiting: readonly PathSample[], sample: PathSample): readonly PathSample[] {
  const at = waiting.findLastIndex((one) => goesOn(one, sample));
  return at < 0
    ? [...waiting, sample]
    : [...waiting.slice(0, at), ...waiting.slice(at + 1), merged(waiting[at], sample)];
}

function goesOn(older: PathSample, newer: PathSample): boolean {
  return (
    older.connectionId === newer.connectionId &&
    older.transport === newer.transport &&
    older.atMs <= newer.atMs &&
    isNoLess(newer.packetsSent, older.packetsSent) &&
    isNoLess(newer.bytesSent, older.bytesSent)
  );
}

/** Of a counter. If one of two samples lacks it, that says nothing about how it went on. */
function isNoLess(newer: number | undefined, older: number | undefined): boolean {
  return newer === undefined || older === undefined ? newer === older : newer >= older;
}

function merged(older: PathSample | undefined, newer: PathSample): PathSample {
  if (older === undefined) return newer;
  const isRated = older.bytesSent === undefined || older.bytesSent >= RATE_GATE_BYTES;
  const rate = Math.max(isRated ? (older.deliveryRateBps ?? 0) : 0, newer.deliveryRateBps ?? 0);
  return {
    ...newer,
    minRttMs: smaller(smaller(undefined, older.minRttMs || older.rttMs), newer.minRttMs || newer.rttMs),
    busyMs: newer.busyMs ?? older.busyMs,
    deliveryRateBps: rate > 0 ? rate : undefined,
  };
}

function recordOf(stored: ConnectionRecord | undefined, sample: PathSample): ConnectionRecord {
  // The count of sent packets never falls: another connection has this id, or its sender began again.
  const isContinued = stored !== undefined && (sample.packetsSent ?? stored.packetsSent) >= stored.packetsSent;
  const before = isContinued ? stored : undefined;
  const bytesSent = sample.bytesSent ?? before?.bytesSent ?? 0;
  const rttMs = smaller(before?.rttMs, sample.minRttMs || sample.rttMs);
  const rate = bytesSent >= RATE_GATE_BYTES ? sample.deliveryRateBps : undefined;
  const deliveryRateBps = Math.max(rate ?? 0, before?.deliveryRateBps ?? 0);
  return {
    id: sample.connectionId,
    transport: sample.transport,
    atMs: sample.atMs,
    packetsSent: sample.packetsSent ?? before?.packetsSent ?? 0,
    // A count of lost packets means nothing without a count of sent packets.
    packetsLost: sample.packetsSent === undefined ? (before?.packetsLost ?? 0) : (sample.packetsLost ?? 0),
    bytesSent,
    busyMs: sample.busyMs ?? before?.busyMs ?? 0,
    closed: sample.closing,
    ...(rttMs === undefined ? {} : { rttMs }),
    ...(deliveryRateBps === 0 ? {} : { deliveryRateBps }),
    ...(before?.forgotten === undefined ? {} : { forgotten: before.forgotten }),
  };
}

/** Platforms give 0 for what they do not know. */
function smaller(a: number | undefined, b: number | undefined): number | undefined {
  if (b === undefined || b <= 0) return a;
  return a === undefined ? b : Math.min(a, b);
}

/** Leaves out the connection with the least evidence: the fewest packets, faded by age. The newest one stays. */
function withoutLeast(connections: readonly ConnectionRecord[]): readonly ConnectionRecord[] {
  const nowMs = connections[0]?.atMs ?? 0;
  const evidenceLeft = (one: ConnectionRecord): number => one.packetsSent * left(nowMs - one.atMs);
  const least = connections.slice(1).reduce((a, b) => (evidenceLeft(b) <= evidenceLeft(a) ? b : a));
  return connections.filter((one) => one !== least);
}

/** What a record counts: what its connection did since its client was last forgotten. */
function counted(record: ConnectionRecord): Counters {
  const from = record.forgotten ?? NOTHING;
  return {
    packetsSent: Math.max(0, record.packetsSent - from.packetsSent),
    // A packet that was declared lost may turn out to be late: fewer may be lost than were.
    packetsLost: Math.max(0, record.packetsLost - from.packetsLost),
    bytesSent: Math.max(0, record.bytesSent - from.bytesSent),
    busyMs: Math.max(0, record.busyMs - from.busyMs),
  };
}

/**
 * What stays of a client that is to be forgotten: its open connections, which count anew from here. Without them their
 * next samples would bring back everything that they ever sent.
 */
export function forgottenOf(connections: readonly ConnectionRecord[]): readonly ConnectionRecord[] {
  return connections.flatMap(({ id, transport, atMs, closed, packetsSent, packetsLost, bytesSent, busyMs }) => {
    const counters = { packetsSent, packetsLost, bytesSent, busyMs };
    return closed ? [] : [{ id, transport, atMs, closed, ...counters, forgotten: counters }];
  });
}

/** What a record shows at `nowMs`. */
export function seenAt(record: ConnectionRecord, nowMs: number): ConnectionSeen {
  const { packetsSent, packetsLost, bytesSent, busyMs } = counted(record);
  const { transport, atMs, rttMs, deliveryRateBps } = record;
  return {
    transport,
    ageMs: Math.max(0, nowMs - atMs),
    packets: packetsSent,
    lost: Math.min(packetsSent, packetsLost),
    ...(rttMs === undefined ? {} : { rttMs }),
    ...(bytesSent === 0 ? {} : { bytes: bytesSent }),
    ...(busyMs === 0 ? {} : { busyMs }),
    ...(deliveryRateBps === undefined ? {} : { deliveryRateBps }),
  };
}
