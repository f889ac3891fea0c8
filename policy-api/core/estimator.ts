import { addToEpochs, type Epoch, epochsSinceChange } from "./epochs.ts";
import { addLoss, type DecayedLoss, NO_LOSS } from "./loss.ts";
import { type PathSample, type Transport, TRANSPORTS } from "./sample.ts";
import { addToWindow, readWindow, type Windowed } from "./windowed.ts";

/** Where a connection's counters stood at its last sample: the next sample counts from here. */
export interface Baseline {
  readonly connectionId: string;
  readonly atMs: number;
  readonly packetsSent: number;
  readonly packetsLost: number;
  readonly bytesSent: number;
  /** Whether it said that it was ending: its place may be taken, and until then a sample that comes twice is known. */
  readonly closed: boolean;
}

/** What is held of a path as one transport measured it. Plain JSON, of bounded size. */
export interface TransportState {
  readonly minRttMs: Windowed;
  readonly deliveryRateBps: Windowed;
  readonly loss: DecayedLoss;
  readonly lastAtMs: number;
  /** Newest first. */
  readonly baselines: readonly Baseline[];
  /** The last seconds that told something, oldest first; kept for clients only, as a network is many paths. */
  readonly epochs: readonly Epoch[];
  /** When the path was last seen to change, milliseconds since the epoch: of before nothing is held. 0: never. */
  readonly changedAtMs: number;
}

/** What is held of a client's or a network's path. */
export interface PathState {
  readonly tcp?: TransportState;
  readonly quic?: TransportState;
}

/**
 * What is left of a path that is to be forgotten: where the counters of connections stand that are still open. Without them
 * their next samples would tell of everything that they ever sent. Undefined where none is open.
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

/** What one sample added to a client: the same is added to its network, which keeps no baselines of its own. */
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
 * Connections whose counters are followed, per client and transport. A browser keeps one to an origin; of many browsers
 * behind one address these are a sample. While all are live a further connection tells its RTT only: following it in the
 * place of another would count that one's packets from zero again.
 */
export const BASELINES = 8;
/** A connection that said nothing for this long has ended without saying so, milliseconds: live ones report each 5 s. */
export const BASELINE_STALE_MS = 600_000;

/**
 * A delivery rate counts if the connection sent this much since its last sample: three rounds of slow start from the
 * initial window of ten segments (RFC 6928 section 2), 10 + 20 + 40 segments of 1,460 bytes. A slow path never gets that
 * far between two samples: there it counts if the connection was busy for half of the time, at that rate. Else the sender
 * has measured its own pauses and not the path.
 */
export const RATE_GATE_BYTES = 70 * 1460;
const BUSY_SHARE = 0.5;

const EMPTY: TransportState = {
  minRttMs: [],
  deliveryRateBps: [],
  loss: NO_LOSS,
  lastAtMs: 0,
  baselines: [],
  epochs: [],
  changedAtMs: 0,
};

/** Adds one sample to a client's state. Pure and O(1); a sample seen before changes nothing. */
export function applySample(
  state: PathState,
  sample: PathSample,
): { readonly state: PathState; readonly increment: Increment } {
  const other = sample.transport === "tcp" ? "quic" : "tcp";
  const otherHeld = state[other];
  // Both transports measure one path: what changed for one that was there changed for one that comes later.
  const held = state[sample.transport] ?? { ...EMPTY, changedAtMs: otherHeld?.changedAtMs ?? 0 };
  const before = held.baselines.find((b) => b.connectionId === sample.connectionId);
  const place = before ?? placeFor(held.baselines, sample.atMs);
  const progress = place === "none" ? undefined : counterProgress(before, sample);
  const increment: Increment = {
    transport: sample.transport,
    atMs: sample.atMs,
    packets: progress?.packets ?? 0,
    lost: progress?.lost ?? 0,
    bytes: progress?.bytes ?? 0,
    ...rttReading(sample),
    ...rateReading(sample, before, progress?.bytes ?? 0),
  };
  // What was on its way when the path changed tells of the path before.
  const next = increment.atMs < held.changedAtMs ? held : withEpoch(addIncrement(held, increment), increment);
  const baselines =
    progress === undefined ? held.baselines : [progress.baseline, ...held.baselines.filter((b) => b !== place)];
  // And what changes now is forgotten by both, so that their times of change are always the same.
  const forgets = otherHeld !== undefined && next.changedAtMs > held.changedAtMs;
  return {
    state: {
      ...state,
      ...(forgets ? { [other]: forgetBefore(otherHeld, next.changedAtMs) } : {}),
      [sample.transport]: { ...next, baselines },
    },
    increment,
  };
}

/** Samples in the order in which they were read, so that counters only ever step as they did. */
export function inOrder(samples: readonly PathSample[]): readonly PathSample[] {
  return samples.toSorted((a, b) => a.atMs - b.atMs);
}

/** Adds the samples of one batch. Pure. */
export function applySamples(state: PathState, samples: readonly PathSample[]): PathState {
  return inOrder(samples).reduce((s, sample) => applySample(s, sample).state, state);
}

/** Adds to a network's state what a sample added to one of its clients. Pure, O(1). */
export function applyIncrement(state: PathState, increment: Increment): PathState {
  return { ...state, [increment.transport]: addIncrement(state[increment.transport] ?? EMPTY, increment) };
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
  };
}

/** Adds what told something to the last seconds; where these tell of another path, what was told before is forgotten. */
function withEpoch(state: TransportState, increment: Increment): TransportState {
  if (increment.packets === 0 && increment.deliveryRateBps === undefined) return state;
  const next = { ...state, epochs: addToEpochs(state.epochs, increment) };
  const all = { loss: next.loss, minRttMs: readWindow(next.minRttMs, next.lastAtMs, Math.min) };
  const since = epochsSinceChange(next.epochs, all);
  return since === undefined ? next : forgetBefore(next, next.epochs.at(-since)?.atMs ?? 0);
}

/** Forgets what was told before a path changed, so that an average does not hold on to it for hours. */
function forgetBefore(state: TransportState, changedAtMs: number): TransportState {
  const epochs = state.epochs.filter((epoch) => epoch.atMs >= changedAtMs);
  return epochs.reduce<TransportState>((next, epoch) => addIncrement(next, { transport: "tcp", ...epoch }), {
    ...EMPTY,
    lastAtMs: state.lastAtMs,
    baselines: state.baselines,
    epochs,
    changedAtMs: Math.max(state.changedAtMs, changedAtMs),
  });
}

function rttReading(sample: PathSample): { minRttMs?: number } {
  // 0 is a platform's way to say that it does not know.
  const minRttMs = sample.minRttMs || sample.rttMs;
  return minRttMs !== undefined && minRttMs > 0 ? { minRttMs } : {};
}

function rateReading(sample: PathSample, before: Baseline | undefined, bytes: number): { deliveryRateBps?: number } {
  const rate = sample.deliveryRateBps;
  if (rate === undefined || rate <= 0 || bytes === 0) return {};
  const seconds = before === undefined ? Number.POSITIVE_INFINITY : (sample.atMs - before.atMs) / 1000;
  return bytes >= RATE_GATE_BYTES || bytes >= rate * seconds * BUSY_SHARE ? { deliveryRateBps: rate } : {};
}

/** Whose place a connection not seen before takes: nobody's while there is room, then the first that has ended. */
function placeFor(baselines: readonly Baseline[], atMs: number): Baseline | undefined | "none" {
  if (baselines.length < BASELINES) return undefined;
  return baselines.findLast((b) => b.closed) ?? baselines.findLast((b) => b.atMs + BASELINE_STALE_MS <= atMs) ?? "none";
}

/** How far the counters went since the last sample; undefined when this sample is older than the one held. */
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
  // Packets sent cannot step back: another connection took this id, or its sender began anew. Count from here on.
  if (packets < 0) return { packets: 0, lost: 0, bytes, baseline };
  // Without a count of packets sent a count of lost ones says nothing.
  const lost = sample.packetsSent === undefined ? 0 : baseline.packetsLost - (before?.packetsLost ?? 0);
  return { packets, lost, bytes, baseline };
}
