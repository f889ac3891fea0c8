import { addToEpochs, type Epoch, epochsSinceChange } from "./epochs.ts";
import { addLoss, decay, type DecayedLoss, NO_LOSS } from "./loss.ts";
import { type PathSample, type Transport, TRANSPORTS } from "./sample.ts";
import { addToWindow, readWindow, type Windowed } from "./windowed.ts";

/** A connection's counters at its last sample. The next sample counts from here. */
export interface Baseline {
  readonly connectionId: string;
  readonly atMs: number;
  readonly packetsSent: number;
  readonly packetsLost: number;
  readonly bytesSent: number;
  /**
   * Whether its last sample was a closing one. Then another connection may replace it; until then it recognises
   * repeats.
   */
  readonly closed: boolean;
}

/** What is kept of a path as one transport measured it. Plain JSON, of bounded size. */
export interface TransportState {
  readonly minRttMs: Windowed;
  readonly deliveryRateBps: Windowed;
  readonly loss: DecayedLoss;
  readonly lastAtMs: number;
  /** Newest first. */
  readonly baselines: readonly Baseline[];
  /** The last seconds with samples, oldest first. For clients only: a network is many paths. */
  readonly epochs: readonly Epoch[];
  /** When the path last changed, milliseconds since the epoch: nothing older is kept. 0: it never did. */
  readonly changedAtMs: number;
  /** What the next level holds of this one. It is at most the share below, and outlives a change of the path. */
  readonly passedOn: DecayedLoss;
}

/**
 * Whose paths are remembered, the nearest first: the client's, its network's (a /24 or /48), and those of the network's
 * autonomous system, as far as one object has met it. Each level is the prior of the one before it.
 */
export const LEVELS = ["client", "network", "asn"] as const;
export type Level = (typeof LEVELS)[number];

/** What is kept of a path, on any level. */
export interface PathState {
  readonly tcp?: TransportState;
  readonly quic?: TransportState;
}

/**
 * What stays of a path that is to be forgotten: the counters of open connections. Without them the next samples would
 * count everything that these connections ever sent. Undefined if none is open.
 */
export function openConnectionsOf(state: PathState): PathState | undefined {
  const left = Object.fromEntries(
    TRANSPORTS.flatMap((transport) => {
      const baselines = (state[transport]?.baselines ?? []).filter(({ closed }) => !closed);
      return baselines.length === 0 ? [] : [[transport, { ...EMPTY, baselines }]];
    }),
  ) as PathState;
  return Object.keys(left).length === 0 ? undefined : left;
}

/** What one sample added to a level. */
export interface Increment {
  readonly transport: Transport;
  readonly atMs: number;
  readonly minRttMs?: number | undefined;
  readonly deliveryRateBps?: number | undefined;
  readonly packets: number;
  readonly lost: number;
  readonly bytes: number;
}

/**
 * How many connections' counters are followed for each client and transport. A browser has one to an origin; if many
 * browsers share the address, these are a sample of them. While all are live, only the RTT of a further connection
 * counts: if it replaced one of them, that one's packets would later count again from zero.
 */
export const BASELINES = 8;
/** A connection without samples for this long has ended, milliseconds: live ones report every 5 s. */
export const BASELINE_STALE_MS = 600_000;

/**
 * A delivery rate counts if the connection sent this much since its last sample: three rounds of slow start from the
 * initial window of ten segments (RFC 6928 section 2), 10 + 20 + 40 segments of 1,460 bytes. A slow path cannot send
 * that much between two samples. There the rate counts if the connection was busy for half of the time at that rate.
 * Otherwise the sender has measured its own pauses and not the path.
 */
export const RATE_GATE_BYTES = 70 * 1460;
const BUSY_SHARE = 0.5;

/**
 * What one client may be to its network, and one network to its autonomous system: at most this many packets of their
 * evidence at any time, and at most this loss. So one that loses packets on purpose decides nothing for its
 * neighbours: four are needed before a level is known (KNOWN_PACKETS), and among n, one moves the loss by at most 5/n
 * points. The loss is the highest that calibration measured.
 */
export const SHARE_PACKETS = 25;
export const SHARE_LOSS = 0.05;

const EMPTY: TransportState = {
  minRttMs: [],
  deliveryRateBps: [],
  loss: NO_LOSS,
  lastAtMs: 0,
  baselines: [],
  epochs: [],
  changedAtMs: 0,
  passedOn: NO_LOSS,
};

/** A level's state with something added, and what the next level gets of it. */
export interface Applied {
  readonly state: PathState;
  readonly onward: Increment;
}

/** Adds one sample to a client's state. A sample that was seen before changes nothing. Pure, O(1). */
export function applySample(state: PathState, sample: PathSample): Applied {
  const other = sample.transport === "tcp" ? "quic" : "tcp";
  const otherHeld = state[other];
  // Both transports measure one path: a change that one has seen counts for the other, which may come later.
  const held = state[sample.transport] ?? { ...EMPTY, changedAtMs: otherHeld?.changedAtMs ?? 0 };
  const before = held.baselines.find((b) => b.connectionId === sample.connectionId);
  const replaced = before ?? replacedBaseline(held.baselines, sample.atMs);
  const progress = replaced === "none" ? undefined : counterProgress(before, sample);
  const increment: Increment = {
    transport: sample.transport,
    atMs: sample.atMs,
    packets: progress?.packets ?? 0,
    lost: progress?.lost ?? 0,
    bytes: progress?.bytes ?? 0,
    ...rttReading(sample),
    ...rateReading(sample, before, progress?.bytes ?? 0),
  };
  const onward = shareOf(held.passedOn, increment);
  // A sample from before the change is about the old path.
  const next = increment.atMs < held.changedAtMs ? held : withEpoch(addIncrement(held, increment), increment);
  const baselines =
    progress === undefined ? held.baselines : [progress.baseline, ...held.baselines.filter((b) => b !== replaced)];
  // Both forget the old path, so their times of change are always the same.
  const forgets = otherHeld !== undefined && next.changedAtMs > held.changedAtMs;
  return {
    state: {
      ...state,
      ...(forgets ? { [other]: forgetBefore(otherHeld, next.changedAtMs) } : {}),
      [sample.transport]: withShare({ ...next, baselines }, onward),
    },
    onward,
  };
}

/** Samples in the order of reading, so that counters move as they did on the connection. */
export function inOrder(samples: readonly PathSample[]): readonly PathSample[] {
  return samples.toSorted((a, b) => a.atMs - b.atMs);
}

/** Adds the samples of one batch. Pure. */
export function applySamples(state: PathState, samples: readonly PathSample[]): PathState {
  return inOrder(samples).reduce((s, sample) => applySample(s, sample).state, state);
}

/** Adds to another level's state what the level before it passed on. Other levels keep no baselines. Pure, O(1). */
export function applyIncrement(state: PathState, increment: Increment): Applied {
  const held = state[increment.transport] ?? EMPTY;
  const onward = shareOf(held.passedOn, increment);
  return { state: { ...state, [increment.transport]: withShare(addIncrement(held, increment), onward) }, onward };
}

/** What the next level gets of an increment: as much as there is room for beside what it still holds of this one. */
function shareOf(passedOn: DecayedLoss, { packets, lost, ...readings }: Increment): Increment {
  const left = decay(readings.atMs - passedOn.asOfMs);
  const counted = Math.min(packets, SHARE_PACKETS - passedOn.packets * left);
  // Losses that are found, or taken back, after their packets were counted are those of a part of them, too.
  const part = packets > 0 ? counted / packets : 1;
  const countedLost = Math.min(lost * part, SHARE_PACKETS * SHARE_LOSS - passedOn.lost * left);
  return { ...readings, packets: counted, lost: Math.max(countedLost, -passedOn.lost * left) };
}

function withShare(state: TransportState, { packets, lost, atMs }: Increment): TransportState {
  return packets === 0 && lost === 0 ? state : { ...state, passedOn: addLoss(state.passedOn, packets, lost, atMs) };
}

function addIncrement(held: TransportState, increment: Increment): TransportState {
  const { atMs, minRttMs, deliveryRateBps } = increment;
  return {
    minRttMs: minRttMs === undefined ? held.minRttMs : addToWindow(held.minRttMs, atMs, minRttMs, Math.min),
    deliveryRateBps:
      deliveryRateBps === undefined
        ? held.deliveryRateBps
        : addToWindow(held.deliveryRateBps, atMs, deliveryRateBps, Math.max),
    loss:
      increment.packets === 0 && increment.lost === 0
        ? held.loss
        : addLoss(held.loss, increment.packets, increment.lost, atMs),
    lastAtMs: Math.max(held.lastAtMs, atMs),
    baselines: held.baselines,
    epochs: held.epochs,
    changedAtMs: held.changedAtMs,
    passedOn: held.passedOn,
  };
}

/** Adds to the last seconds. If these show another path, everything before them is forgotten. */
function withEpoch(state: TransportState, increment: Increment): TransportState {
  if (increment.packets === 0 && increment.deliveryRateBps === undefined) return state;
  const next = { ...state, epochs: addToEpochs(state.epochs, increment) };
  const all = { loss: next.loss, minRttMs: readWindow(next.minRttMs, next.lastAtMs, Math.min) };
  const since = epochsSinceChange(next.epochs, all);
  return since === undefined ? next : forgetBefore(next, next.epochs.at(-since)?.atMs ?? 0);
}

/** Forgets everything from before a change, so that an average does not hold on to it for hours. */
function forgetBefore(state: TransportState, changedAtMs: number): TransportState {
  const epochs = state.epochs.filter((epoch) => epoch.atMs >= changedAtMs);
  return epochs.reduce<TransportState>((next, epoch) => addIncrement(next, { transport: "tcp", ...epoch }), {
    ...EMPTY,
    lastAtMs: state.lastAtMs,
    baselines: state.baselines,
    passedOn: state.passedOn,
    epochs,
    changedAtMs: Math.max(state.changedAtMs, changedAtMs),
  });
}

function rttReading(sample: PathSample): { minRttMs?: number } {
  // Platforms give 0 for what they do not know.
  const minRttMs = sample.minRttMs || sample.rttMs;
  return minRttMs !== undefined && minRttMs > 0 ? { minRttMs } : {};
}

function rateReading(sample: PathSample, before: Baseline | undefined, bytes: number): { deliveryRateBps?: number } {
  const rate = sample.deliveryRateBps;
  if (rate === undefined || rate <= 0 || bytes === 0) return {};
  const seconds = before === undefined ? Number.POSITIVE_INFINITY : (sample.atMs - before.atMs) / 1000;
  return bytes >= RATE_GATE_BYTES || bytes >= rate * seconds * BUSY_SHARE ? { deliveryRateBps: rate } : {};
}

/**
 * The baseline that a new connection replaces, of one that has ended. Undefined: there is room. `none`: all are live.
 */
function replacedBaseline(baselines: readonly Baseline[], atMs: number): Baseline | undefined | "none" {
  if (baselines.length < BASELINES) return undefined;
  return baselines.findLast((b) => b.closed) ?? baselines.findLast((b) => b.atMs + BASELINE_STALE_MS <= atMs) ?? "none";
}

/** How far the counters moved since the last sample. Undefined if this sample is older than that one. */
function counterProgress(
  before: Baseline | undefined,
  sample: PathSample,
): { packets: number; lost: number; bytes: number; baseline: Baseline } | undefined {
  if (before !== undefined && sample.atMs <= before.atMs) return undefined;
  const baseline: Baseline = {
    connectionId: sample.connectionId,
    atMs: sample.atMs,
    packetsSent: sample.packetsSent ?? before?.packetsSent ?? 0,
    packetsLost: sample.packetsLost ?? before?.packetsLost ?? 0,
    bytesSent: sample.bytesSent ?? before?.bytesSent ?? 0,
    closed: sample.closing,
  };
  const packets = baseline.packetsSent - (before?.packetsSent ?? 0);
  const bytes = Math.max(0, baseline.bytesSent - (before?.bytesSent ?? 0));
  // The count of sent packets never falls: another connection has this id, or its sender began again. Count from here.
  if (packets < 0) return { packets: 0, lost: 0, bytes, baseline };
  // A count of lost packets means nothing without a count of sent packets.
  const lost = sample.packetsSent === undefined ? 0 : baseline.packetsLost - (before?.packetsLost ?? 0);
  return { packets, lost, bytes, baseline };
}
