import { ARMS } from "./arms.ts";
import {
  type Allocation,
  type Cell,
  type Experiment,
  type ExperimentOptions,
  FULL_ALLOCATION,
  QUEUE_BYTES,
  QUICK_ALLOCATION,
} from "./experiment.ts";

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

const BYTES = { quick: 100_000, reduced: 1_000_000, published: 10_000_000 } as const;

const ALLOCATION: Allocation = {
  first: 10,
  cap: 20,
  comparisons: [
    { flow: "trained", a: "fixed-h2", b: "fixed-h3" },
    { flow: "trained", a: "fixed-h2", b: "always-offer" },
  ],
};

/** The published evaluation (ohashi-2020), with the arms and flows that it lacks. */
export function ohashiEvaluation({ congestions, bytes, size }: ExperimentOptions): Experiment {
  const cells: Cell[] = congestions.flatMap((congestion) =>
    NINE_NETWORKS.map((network) => {
      // Loss and delay together make a load of 10 MB take over 10 s.
      const isSlow = network.lossRatio > 0 && network.delayMs > 0;
      const usual = size === "quick" ? BYTES.quick : isSlow && size !== "full" ? BYTES.reduced : BYTES.published;
      return { id: `${network.name}-${congestion}`, network, congestion, imageBytes: bytes ?? usual };
    }),
  );
  return {
    name: "ohashi-evaluation",
    about: "the nine published networks: all arms, all flows, and how often HTTP/3 was chosen",
    loads: [
      ...ARMS.flatMap((arm) => (["trained", "cold"] as const).map((flow) => ({ arm, flow }))),
      // The other arms' answers do not depend on what was measured: for them this flow is `trained`.
      { arm: "adaptive", flow: "trained-on-h2" },
    ],
    cells,
    allocation: size === "quick" ? QUICK_ALLOCATION : size === "full" ? FULL_ALLOCATION : ALLOCATION,
    timeoutMs: size === "full" ? 600_000 : 60_000,
    notes: [
      "The source does not say whether its delay and loss meet one direction or both. Here delay is one way and meets both directions; loss meets the data.",
      ...(size === "usual" && bytes === undefined
        ? [
            "Images are as large as published (10 MB) where a load stays under 10 s, else 1 MB: in the networks with loss and delay. Times there are to be compared as ratios only.",
          ]
        : []),
      "In `cold` each of three pages has an image of 1 MB at the most, in all networks, and a load's time is that of all three together.",
      "`trained-on-h2` runs for `adaptive` alone: what the other arms answer does not depend on what was measured, so that it is their `trained`.",
    ],
  };
}
