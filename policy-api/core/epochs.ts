import { decay, type DecayedLoss } from "./loss.ts";

/**
 * What the samples of one second added. The last few seconds are kept one by one: they show a change of the path that
 * an average over hours would hide.
 */
export interface Epoch {
  /** Its beginning, milliseconds since the epoch. */
  readonly atMs: number;
  readonly packets: number;
  readonly lost: number;
  readonly bytes: number;
  readonly minRttMs?: number | undefined;
  readonly deliveryRateBps?: number | undefined;
}

/** Only seconds with samples count. A visit has one or two. */
export const EPOCHS = 8;
const EPOCH_MS = 1_000;

/** Epochs with fewer packets do not show a change: a visit of 150 KB. */
const ENOUGH_PACKETS = 100;
/** Losses come in bursts: two of them are as much evidence as one that came alone. */
const LOSSES_PER_EVENT = 2;
/**
 * Log likelihood ratio above which two loss ratios differ: one equal pair in a hundred passes it (half of chi-squared's
 * 6.6).
 */
const LOSS_EVIDENCE = 3.3;
/** No decision depends on a smaller difference of loss, however certain it is. */
const LOSS_DIFFERENCE = 0.005;
/** An RTT is another one if it differs by this factor, and by more than the usual milliseconds of a queue. */
const RTT_FACTOR = 1.5;
const RTT_DIFFERENCE_MS = 10;
/** A rate is another one if it is half or less, for a transfer at least half as large. */
const RATE_FACTOR = 2;
/** Transfers are of another size if they differ by this factor. */
const SIZE_FACTOR = 3;
/** Above this loss a delivery rate measures the sender's window, and not the path. */
const RATED_LOSS = 0.005;

/** Adds what one sample added. Keeps the newest EPOCHS seconds, whatever the order of arrival. Pure. */
export function addToEpochs(epochs: readonly Epoch[], added: Epoch): readonly Epoch[] {
  const atMs = Math.floor(added.atMs / EPOCH_MS) * EPOCH_MS;
  const held = epochs.find((epoch) => epoch.atMs === atMs);
  const others = held === undefined ? epochs : epochs.filter((epoch) => epoch !== held);
  const minRttMs = extremum(held?.minRttMs, added.minRttMs, Math.min);
  const deliveryRateBps = extremum(held?.deliveryRateBps, added.deliveryRateBps, Math.max);
  const packets = (held?.packets ?? 0) + added.packets;
  const merged: Epoch = {
    atMs,
    packets,
    // A correction (lost < 0) may be about an earlier second.
    lost: Math.min(packets, Math.max(0, (held?.lost ?? 0) + added.lost)),
    bytes: (held?.bytes ?? 0) + added.bytes,
    ...(minRttMs === undefined ? {} : { minRttMs }),
    ...(deliveryRateBps === undefined ? {} : { deliveryRateBps }),
  };
  return [...others, merged].sort((a, b) => a.atMs - b.atMs).slice(-EPOCHS);
}

/** What all samples add up to, the epochs included: loss, and the smallest RTT. */
export interface Totals {
  readonly loss: DecayedLoss;
  readonly minRttMs: number | undefined;
}

/**
 * The number of newest epochs that show another path than everything before them. Undefined if the path has not
 * changed. Pure, at most EPOCHS steps.
 */
export function epochsSinceChange(epochs: readonly Epoch[], all: Totals): number | undefined {
  let packets = 0;
  let lost = 0;
  let bytes = 0;
  let largestBytes = 0;
  // What is left in the totals of these epochs.
  let leftPackets = 0;
  let leftLost = 0;
  let minRttMs: number | undefined;
  let rate: number | undefined;
  for (let i = epochs.length - 1; i >= 0; i--) {
    const epoch = epochs[i];
    if (epoch === undefined) continue;
    packets += epoch.packets;
    lost += epoch.lost;
    bytes += epoch.bytes;
    largestBytes = Math.max(largestBytes, epoch.bytes);
    const left = decay(all.loss.asOfMs - epoch.atMs);
    leftPackets += epoch.packets * left;
    leftLost += epoch.lost * left;
    minRttMs = extremum(minRttMs, epoch.minRttMs, Math.min);
    rate = extremum(rate, epoch.deliveryRateBps, Math.max);
    if (packets < ENOUGH_PACKETS) continue;
    const earlier = epochs.slice(0, i);
    const before = {
      packets: Math.max(0, all.loss.packets - leftPackets),
      lost: Math.max(0, all.loss.lost - leftLost),
    };
    const isClean = lost <= RATED_LOSS * packets;
    if (
      (isAnotherLoss({ packets, lost }, before) &&
        !isBySize(lost / packets - before.lost / before.packets, largestBytes, earlier)) ||
      isAnotherRtt(minRttMs, all.minRttMs, earlier) ||
      (isClean && isLowerRate(rate, bytes, earlier))
    )
      return epochs.length - i;
  }
  return undefined;
}

interface Counts {
  readonly packets: number;
  readonly lost: number;
}

/** Whether two loss ratios differ: the likelihood ratio of two binomials against one. */
function isAnotherLoss(a: Counts, b: Counts): boolean {
  if (b.packets < ENOUGH_PACKETS) return false;
  if (Math.abs(a.lost / a.packets - b.lost / b.packets) <= LOSS_DIFFERENCE) return false;
  const together = { packets: a.packets + b.packets, lost: a.lost + b.lost };
  const evidence = logLikelihood(a) + logLikelihood(b) - logLikelihood(together);
  return evidence / LOSSES_PER_EVENT > LOSS_EVIDENCE;
}

/** Of a binomial at its own ratio. */
function logLikelihood({ packets, lost }: Counts): number {
  const ratio = Math.min(1, lost / packets);
  return (ratio > 0 ? lost * Math.log(ratio) : 0) + (ratio < 1 ? (packets - lost) * Math.log(1 - ratio) : 0);
}

/**
 * Whether a difference of loss may come from a difference of size. A much larger transfer overfills the queue at the
 * end of slow start, and loses packets there. Recorded pages of 1 and 10 MB on one clean path differ by 5 to 9 %.
 */
function isBySize(lossAboveBefore: number, largestBytes: number, earlier: readonly Epoch[]): boolean {
  if (earlier.length === 0) return false;
  const before = earlier.reduce((largest, epoch) => Math.max(largest, epoch.bytes), 0);
  return lossAboveBefore > 0 ? largestBytes > SIZE_FACTOR * before : before > SIZE_FACTOR * largestBytes;
}

function isAnotherRtt(now: number | undefined, smallest: number | undefined, earlier: readonly Epoch[]): boolean {
  if (now === undefined) return false;
  if (smallest !== undefined && isMuchLarger(now, smallest)) return true;
  const before = earlier.reduce<number | undefined>((least, e) => extremum(least, e.minRttMs, Math.min), undefined);
  return before !== undefined && isMuchLarger(before, now);
}

function isMuchLarger(a: number, b: number): boolean {
  return a > b * RTT_FACTOR && a > b + RTT_DIFFERENCE_MS;
}

/**
 * A larger transfer finds a larger rate. So only a transfer of about the same size can show that the rate has fallen.
 */
function isLowerRate(rate: number | undefined, bytes: number, earlier: readonly Epoch[]): boolean {
  return (
    rate !== undefined &&
    earlier.some(
      (epoch) =>
        (epoch.deliveryRateBps ?? 0) > rate * RATE_FACTOR &&
        epoch.bytes <= bytes * 2 &&
        epoch.lost <= RATED_LOSS * epoch.packets,
    )
  );
}

function extremum(
  a: number | undefined,
  b: number | undefined,
  better: (a: number, b: number) => number,
): number | undefined {
  return a === undefined ? b : b === undefined ? a : better(a, b);
}
