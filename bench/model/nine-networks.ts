import { QUEUE_BYTES } from "./cell.ts";

/** The nine networks of the published evaluation: 200 Mbit/s, three losses, three delays, numbered as there. */
export const NINE_NETWORKS = [0, 0.025, 0.05]
  .flatMap((lossRatio) => [0, 12.5, 25].map((delayMs) => ({ lossRatio, delayMs })))
  .map(({ lossRatio, delayMs }, i) => ({
    name: `${i + 1}`,
    rateMbps: 200,
    delayMs,
    lossRatio,
    queueBytes: QUEUE_BYTES,
  }));
