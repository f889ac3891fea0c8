import { differences } from "../../analysis/evaluation/differences.ts";
import type { Evaluation } from "../../analysis/evaluation/evaluation.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";

const PUBLISHED_BYTES = 10_000_000;

/**
 * Where the run differs from what was published, and which causes its own data speak for. Undefined behind another QUIC: what
 * was published is about one stack, and another one differs without a cause.
 */
export function differencesFromPublished(
  { gains }: Pick<Evaluation, "gains">,
  { experiment, quic }: Pick<LoadsRecorded, "experiment" | "quic">,
) {
  const table = quic === "quic-go" ? differences(experiment, { gains }) : undefined;
  if (table === undefined) return undefined;
  const { cells } = experiment;
  return {
    table,
    hasBbr: cells.some(({ congestion }) => congestion === "bbr"),
    isSmaller: cells.some(({ imageBytes }) => imageBytes !== PUBLISHED_BYTES),
  };
}
