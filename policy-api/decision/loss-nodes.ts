/**
 * The losses that a belief is a weighing of, 0 to 1. They are fixed, as what is stored is over them. Nearly all clients,
 * and the losses at which senders change places, are between 0 and 1 %.
 */
export const LOSS_NODES = [0, 0.001, 0.002, 0.005, 0.02, 0.05] as const;
export const NODES = LOSS_NODES.length;

/** V8 keeps a list of fractions as bare numbers, also after they are 0; a list that began as whole numbers is copied later. */
const ZEROS: readonly number[] = LOSS_NODES.map(() => 0.5).fill(0);

/** A 0 for each node. */
export function zeros(): number[] {
  return ZEROS.slice();
}

/** The mean loss of a weighing of the nodes. */
export function meanLoss(weights: readonly number[]): number {
  return weights.reduce((sum, weight, node) => sum + weight * (LOSS_NODES[node] ?? 0), 0);
}
