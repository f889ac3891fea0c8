import { defineLoads } from "../../harness/loads/define.ts";
import { type Cell, NINE_NETWORKS } from "../../model/cell.ts";
import type { LoadExperiment, LoadOptions } from "../../model/load-experiment.ts";
import { nineVisitsReport, nineVisitsSummary } from "./report.ts";

const BYTES = 1_000_000;
const QUICK_BYTES = 100_000;
const ROUNDS = 20;
/** Where no packet is lost, or none waits: there visits hardly differ, or are short, and each has the machine alone. */
const CLEAN_ROUNDS = 5;
const NEAR_ROUNDS = 8;
const QUICK_ROUNDS = 4;

/** The nine published networks, with visits as browsers make them and the shipped policies. */
export function nineVisits({ congestions, bytes, size }: LoadOptions): LoadExperiment {
  const rounds = size === "quick" ? QUICK_ROUNDS : ROUNDS;
  const networks = size === "quick" ? NINE_NETWORKS.filter(({ name }) => name === "6") : NINE_NETWORKS;
  const cells = congestions.flatMap((congestion) =>
    networks.map((network): Cell => {
      const imageBytes = bytes ?? (size === "quick" ? QUICK_BYTES : BYTES);
      return { id: `${network.name}-${congestion}`, network, congestion, imageBytes };
    }),
  );
  return {
    loads: (["fixed-h2", "always-offer", "adaptive"] as const).map((arm) => ({ arm, flow: "visit-after-h2" })),
    cells,
    allocation: { first: rounds, cap: rounds, comparisons: [] },
    rounds: size === "usual" ? Object.fromEntries(cells.map((cell) => [cell.id, roundsOf(cell)])) : {},
    timeoutMs: 120_000,
    notes: [
      "A load is a visit of two pages of a document and an image, five seconds apart, by a client that begins on HTTP/2. What is compared is the second page: the first one's answer acts on it.",
      "Before it the clients of `adaptive` have loaded one image over HTTP/2, in a session of its own: the server has measured their path over TCP alone. What the other arms answer does not depend on it.",
      "`adaptive` has the shipped policy of its congestion control, told what the pages transfer.",
    ],
  };
}

function roundsOf({ network: { lossRatio, delayMs } }: Cell): number {
  return lossRatio === 0 ? CLEAN_ROUNDS : delayMs === 0 ? NEAR_ROUNDS : ROUNDS;
}

export const experiment = defineLoads({ plan: nineVisits, summarise: nineVisitsSummary, report: nineVisitsReport });
