import { LOSS_NODES } from "../../../policy-api/decision/loss-nodes.ts";

const PERCENTS = [70, 10, 6, 7.5, 5, 1.5] as const;

/** Whom a client is taken to be before it was measured: a share for each loss node. */
export const ACCESS_LINES = {
  about: `access lines, fixed and cellular (assumed): ${PERCENTS.map(
    (share, node) => `${share} % of clients lose ${(LOSS_NODES[node] ?? 0) * 100} %`,
  ).join(", ")}`,
  weights: PERCENTS.map((share) => share / 100),
} as const;
