import type { Direction } from "../../lab/path.ts";

/** What is measured of one setting, and with how many packets or for how long. */
export type Probe =
  | { readonly mode: "rate"; readonly seconds: number }
  | { readonly mode: "delay"; readonly packets: number; readonly gapMs: number; readonly loadMbps: number }
  | { readonly mode: "loss"; readonly packets: number; readonly gapMs: number };

/** One setting of the path, and the probe that runs on it. */
export interface FidelitySetting {
  readonly direction: "aToB" | "bToA";
  /** Whether the same probe runs the other way at the same time. */
  readonly bothWays: boolean;
  readonly asked: Direction;
  readonly probe: Probe;
}

const DIRECTIONS = ["aToB", "bToA"] as const;
/** So that a queue that a probe has filled is empty soon. */
const QUEUE_MS = 100;
const BURST_LOSS = { goodToBad: 0.01, badToGood: 0.25, lossGood: 0, lossBad: 1 };

/** All settings; `quick` is enough to see that a machine works (15 s instead of 1.5 minutes). */
export function fidelitySettings(quick: boolean): FidelitySetting[] {
  const settings: FidelitySetting[] = [];
  const add = (asked: Direction, probe: Probe, bothWays = false): void => {
    for (const direction of DIRECTIONS) {
      settings.push({ direction, bothWays, asked, probe });
      if (bothWays) break; // both are measured at once
    }
  };
  const delay = (packets: number, gapMs = 1, loadMbps = 0): Probe => ({ mode: "delay", packets, gapMs, loadMbps });
  for (const delayMs of quick ? [12.5] : [0, 5, 12.5, 25]) add({ delayMs }, delay(quick ? 600 : 1_000));
  // Far apart: packets closer than the jitter bunch up, as none overtakes, and their mean delay rises.
  add({ delayMs: 12.5, jitterMs: 2 }, delay(quick ? 100 : 300, 20));
  for (const lossRatio of quick ? [0.025] : [0, 0.01, 0.025, 0.05])
    add({ delayMs: 5, lossRatio }, { mode: "loss", packets: quick ? 10_000 : 20_000, gapMs: 0.05 });
  add({ delayMs: 5, burstLoss: BURST_LOSS }, { mode: "loss", packets: quick ? 10_000 : 40_000, gapMs: 0.05 });
  for (const rateMbps of quick ? [50, 200] : [5, 50, 100, 200, 400, 600, 1_000]) {
    const asked = { rateMbps, delayMs: 5, queueBytes: (rateMbps * 1_000_000 * QUEUE_MS) / 8_000 };
    add(asked, { mode: "rate", seconds: quick ? 0.6 : 1.2 });
    add(asked, delay(quick ? 600 : 1_500, 1, rateMbps * 0.8));
    if (!quick && rateMbps <= 200) add(asked, { mode: "rate", seconds: 1.2 }, true);
  }
  return settings;
}
