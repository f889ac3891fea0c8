/** Packets sent and lost, each decayed to `asOfMs` with the half-life below. */
export interface DecayedLoss {
  readonly packets: number;
  readonly lost: number;
  readonly asOfMs: number;
}

/** An hour, as the windows of RTT and rate have hours. Provisional until replays of measurements say better. */
export const LOSS_HALF_LIFE_MS = 3_600_000;

export const NO_LOSS: DecayedLoss = { packets: 0, lost: 0, asOfMs: 0 };

/** What is left of evidence after so long, 0 to 1. */
export function decay(elapsedMs: number): number {
  return 2 ** (-Math.max(0, elapsedMs) / LOSS_HALF_LIFE_MS);
}

/** Adds packets sent and lost at a time. Exponential weights commute, so the order of additions does not matter. */
export function addLoss(loss: DecayedLoss, packets: number, lost: number, atMs: number): DecayedLoss {
  const asOfMs = Math.max(loss.asOfMs, atMs);
  const held = decay(asOfMs - loss.asOfMs);
  const added = decay(asOfMs - atMs);
  const total = Math.max(0, loss.packets * held + packets * added);
  // A correction (lost < 0) may be larger than what is left of the loss that it corrects.
  const totalLost = Math.min(total, Math.max(0, loss.lost * held + lost * added));
  return { packets: total, lost: totalLost, asOfMs };
}

/** The evidence that is left at `nowMs`, in packets. */
export function packetsLeft(loss: DecayedLoss, nowMs: number): number {
  return loss.packets * decay(nowMs - loss.asOfMs);
}
