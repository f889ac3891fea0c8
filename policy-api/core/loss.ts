/** Packets sent and lost, both decayed to `asOfMs` with the half-life below. */
export interface DecayedLoss {
  readonly packets: number;
  readonly lost: number;
  readonly asOfMs: number;
}

/**
 * An hour, because the windows of RTT and rate are of hours too. Provisional until replays of measurements show better.
 */
export const LOSS_HALF_LIFE_MS = 3_600_000;

export const NO_LOSS: DecayedLoss = { packets: 0, lost: 0, asOfMs: 0 };

/** The share of evidence that is left after this time, 0 to 1. */
export function decay(elapsedMs: number): number {
  return 2 ** (-Math.max(0, elapsedMs) / LOSS_HALF_LIFE_MS);
}

/** Adds packets sent and lost at `atMs`. The order of additions does not matter: exponential weights commute. */
export function addLoss(loss: DecayedLoss, packets: number, lost: number, atMs: number): DecayedLoss {
  const asOfMs = Math.max(loss.asOfMs, atMs);
  const held = decay(asOfMs - loss.asOfMs);
  const added = decay(asOfMs - atMs);
  const total = Math.max(0, loss.packets * held + packets * added);
  // The loss that a correction (lost < 0) corrects has faded meanwhile: less may be left of it.
  const totalLost = Math.min(total, Math.max(0, loss.lost * held + lost * added));
  return { packets: total, lost: totalLost, asOfMs };
}

/** The evidence that is left at `nowMs`, packets. */
export function packetsLeft(loss: DecayedLoss, nowMs: number): number {
  return loss.packets * decay(nowMs - loss.asOfMs);
}
