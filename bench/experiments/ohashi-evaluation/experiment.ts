import { defineLoads } from "../../harness/loads/define.ts";
import { evaluationReport, evaluationSummary } from "../../harness/loads/evaluation.ts";
import { type Cell, NINE_NETWORKS } from "../../model/cell.ts";
import { ARMS } from "../../model/arm.ts";
import { type Allocation, ALLOCATIONS, type LoadExperiment, type LoadOptions } from "../../model/load-experiment.ts";

const BYTES = { quick: 100_000, reduced: 1_000_000, published: 10_000_000 } as const;

/** Without delay, without loss, and with a little of both. */
const QUICK_NETWORKS = new Set(["1", "3", "5"]);

const ALLOCATION: Readonly<Record<LoadOptions["size"] | "otherQuic", Allocation>> = {
  ...ALLOCATIONS,
  // Ten rounds everywhere: how many loads a round has is told for each cell, by what its answer hangs on.
  usual: { first: 10, cap: 10, comparisons: [] },
  // 40 decisions in every cell.
  otherQuic: { first: 5, cap: 5, comparisons: [] },
};

/**
 * Loads a round. What a wrong choice costs bounds how rare it must be shown to be: with bbr HTTP/3 takes up to six times
 * as long where there is loss and delay, so that 400 decisions are wanted for a bound of 5 %; with cubic staying takes
 * twice as long, and 120 do. Decisions after a visit over the protocol that is fast there come cheapest. Elsewhere there
 * is little to lose, and 100 are made.
 */
const PER_ROUND = {
  lossyCubic: { "adaptive/trained": 8, "adaptive/trained-on-h2": 4, "always-offer/trained": 3, "fixed-h2/trained": 2 },
  lossyBbr: { "adaptive/trained": 8, "adaptive/trained-on-h2": 32, "always-offer/trained": 2, "fixed-h2/trained": 4 },
  noDelay: { "adaptive/trained": 6, "adaptive/trained-on-h2": 4, "always-offer/trained": 4, "fixed-h2/trained": 4 },
  otherQuic: { "adaptive/trained": 4, "adaptive/trained-on-h2": 4, "always-offer/trained": 4, "fixed-h2/trained": 4 },
  clean: { "adaptive/trained": 6, "adaptive/trained-on-h2": 2 },
} as const satisfies Record<string, Cell["perRound"]>;

function perRoundOf({ lossRatio, delayMs }: Cell["network"], congestion: Cell["congestion"]): Cell["perRound"] {
  if (delayMs === 0) return PER_ROUND.noDelay;
  if (lossRatio === 0) return PER_ROUND.clean;
  return congestion === "bbr" ? PER_ROUND.lossyBbr : PER_ROUND.lossyCubic;
}

/** The published evaluation (ohashi-2020), with the arms and flows that it lacks. */
export function ohashiEvaluation({ congestions, bytes, size, quic = "quic-go" }: LoadOptions): LoadExperiment {
  const isOther = quic !== "quic-go";
  const cells: Cell[] = congestions.flatMap((congestion) =>
    NINE_NETWORKS.filter(({ name }) => size !== "quick" || QUICK_NETWORKS.has(name)).map((network) => {
      // Loss and delay together make a load of 10 MB take over 10 s; without delay its 25 MB/s over HTTP/3 keep both cores
      // of a small machine busy, so that what is measured is the machine.
      const isReduced = network.delayMs === 0 || network.lossRatio > 0;
      const usual = size === "quick" ? BYTES.quick : isReduced && size !== "full" ? BYTES.reduced : BYTES.published;
      const cell = { id: `${network.name}-${congestion}`, network, congestion, imageBytes: bytes ?? usual };
      const perRound = size !== "usual" ? undefined : isOther ? PER_ROUND.otherQuic : perRoundOf(network, congestion);
      return perRound === undefined ? cell : { ...cell, perRound };
    }),
  );
  return {
    switch: "wait",
    loads: [
      ...ARMS.filter((arm) => !isOther || arm !== "bare").map((arm) => ({ arm, flow: "trained" as const })),
      // Behind another QUIC is no worker, which could take an offer back on a later page.
      ...ARMS.filter((arm) => !isOther && arm !== "bare").map((arm) => ({ arm, flow: "cold" as const })),
      // The other arms' answers do not depend on what was measured: for them this flow is `trained`.
      { arm: "adaptive", flow: "trained-on-h2" },
    ],
    cells,
    takesQuic: true,
    allocation: ALLOCATION[isOther && size === "usual" ? "otherQuic" : size],
    timeoutMs: size === "full" ? 600_000 : 60_000,
    notes: [
      "The source does not say whether its delay and loss meet one direction or both. Here delay is one way and meets both directions; loss meets the data.",
      size === "usual" &&
        bytes === undefined &&
        "Images are as large as published (10 MB) in the networks with delay and without loss. Elsewhere they are of 1 MB: with loss and delay a load of 10 MB takes over 10 s, and without delay it keeps both cores of a small machine busy, so that the machine is measured. Times there are to be compared as ratios only.",
      isOther
        ? "`adaptive` has the policy that is shipped for this QUIC (policy-api/policies), told what the pages transfer. The flow `cold` is left out: behind this QUIC is no worker, which could take an offer back."
        : "In `cold` each of three pages has an image of 1 MB at the most, in all networks, and a load's time is that of all three together.",
      "`trained-on-h2` runs for `adaptive` alone: what the other arms answer does not depend on what was measured, so that it is their `trained`.",
    ],
  };
}

export const experiment = defineLoads({
  plan: ohashiEvaluation,
  summarise: evaluationSummary,
  report: evaluationReport,
});
