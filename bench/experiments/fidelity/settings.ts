import type { Direction } from "../../lab/path.ts";

/** Data goes from b to a. */
export type Way = "aToB" | "bToA";

/** What is measured of one setting, and with how many packets or for how long. */
export type Probe =
  | { readonly mode: "rate"; readonly seconds: number }
  | { readonly mode: "delay"; readonly packets: number; readonly gapMs: number; readonly loadMbps: number }
  | { readonly mode: "loss"; readonly packets: number };

/** One setting of the path, and the probe that runs on it. */
export interface FidelitySetting {
  /** Several: at the same time. */
  readonly ways: readonly Way[];
  readonly asked: Direction;
  readonly probe: Probe;
}

const BOTH = ["aToB", "bToA"] as const;
/** So that a queue that a probe has filled is empty soon. */
export const QUEUE_MS = 100;

/** All settings; `quick` is enough to see that a machine works (15 s instead of 1.5 minutes). */
export function fidelitySettings(quick: boolean): FidelitySetting[] {
  const each = (asked: Direction, probe: Probe): FidelitySetting[] =>
    BOTH.map((way) => ({ ways: [way], asked, probe }));
  const delay = (packets: number, gapMs = 1, loadMbps = 0): Probe => ({ mode: "delay", packets, gapMs, loadMbps });
  const loss = (packets: number): Probe => ({ mode: "loss", packets });
  return [
    ...(quick ? [12.5] : [0, 5, 12.5, 25]).flatMap((delayMs) => each({ delayMs }, delay(quick ? 600 : 1_000))),
    // Far apart: packets closer than the jitter bunch up, as none overtakes, and their mean delay rises.
    ...each({ delayMs: 12.5, jitterMs: 2 }, delay(quick ? 100 : 300, 20)),
    ...(quick ? [0.025] : [0, 0.01, 0.025, 0.05]).flatMap((lossRatio) =>
      each({ delayMs: 5, lossRatio }, loss(quick ? 10_000 : 20_000)),
    ),
    ...(quick ? [50, 200] : [5, 50, 100, 200, 400, 600, 1_000]).flatMap((rateMbps): FidelitySetting[] => {
      const asked = { rateMbps, delayMs: 5, queueBytes: (rateMbps * 1_000_000 * QUEUE_MS) / 8_000 };
      const rate: Probe = { mode: "rate", seconds: quick ? 0.6 : 1.2 };
      return [
        ...each(asked, rate),
        ...each(asked, delay(quick ? 600 : 1_500, 1, rateMbps * 0.8)),
        ...(!quick && rateMbps <= 200 ? [{ ways: BOTH, asked, probe: rate }] : []),
      ];
    }),
  ];
}
