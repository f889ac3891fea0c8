import { defineLoads } from "../../harness/loads/define.ts";
import type { Cell } from "../../model/cell.ts";
import type { LoadExperiment, LoadOptions } from "../../model/load-experiment.ts";
import { NINE_NETWORKS } from "../../model/nine-networks.ts";
import { cloudflareVisitsReport, cloudflareVisitsSummary } from "./findings.ts";

const BYTES = 1_000_000;
const QUICK_BYTES = 100_000;
const ROUNDS = 12;
/** Where no packet is lost visits hardly differ, and each has the machine alone. */
const CLEAN_ROUNDS = 4;
const QUICK_ROUNDS = 4;
const ARMS = ["fixed-h2", "always-offer", "adaptive", "as-cloudflare"] as const;

/** The nine published networks, by visitors who come again: is what Cloudflare and pages' reports tell enough? */
export function cloudflareVisits({ congestions, bytes, size }: LoadOptions): LoadExperiment {
  const isQuick = size === "quick";
  const networks = isQuick ? NINE_NETWORKS.filter(({ name }) => name === "6") : NINE_NETWORKS;
  const cells = congestions.flatMap((congestion) =>
    networks.map((network): Cell => {
      const imageBytes = bytes ?? (isQuick ? QUICK_BYTES : BYTES);
      return { id: `${network.name}-${congestion}`, network, congestion, imageBytes };
    }),
  );
  const rounds = isQuick ? QUICK_ROUNDS : ROUNDS;
  const roundsOf = ({ network }: Cell): number => (network.lossRatio === 0 ? CLEAN_ROUNDS : ROUNDS);
  return {
    about:
      "the nine networks, coming again: decisions by what Cloudflare and pages' reports tell, beside the own edge's",
    loads: ARMS.map((arm) => ({ arm, flow: "second-visit" })),
    cells,
    allocation: { first: rounds, cap: rounds, comparisons: [] },
    rounds: size === "usual" ? Object.fromEntries(cells.map((cell) => [cell.id, roundsOf(cell)])) : {},
    timeoutMs: 120_000,
    notes: [
      "A load is a visit of two pages of a document and an image, five seconds apart, by a client that begins on HTTP/2. What is compared is the second page: the first one's answer acts on it.",
      "The clients of `adaptive` and `as-cloudflare` have made such a visit before, with half a second between its pages. What the other arms answer does not depend on it.",
      "Both have the shipped policy of their congestion control, told what the pages transfer. `as-cloudflare` sees of a request's connection its RTT and rate alone. Each page reports what `cfL4` said at the head of its last response, as the worker's script does.",
    ],
  };
}

export const experiment = defineLoads({
  plan: cloudflareVisits,
  summarise: cloudflareVisitsSummary,
  report: cloudflareVisitsReport,
});
