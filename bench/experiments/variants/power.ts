import { FLOOR } from "../../../policy-api/core/belief.ts";
import { LOSS_NODES } from "../../../policy-api/core/loss-nodes.ts";
import { mean } from "../../analysis/statistics/summary.ts";

/** What one sender counted in a visit, and the loss that the network had, which must be a loss node. */
export interface Counted {
  readonly lossRatio: number;
  readonly sent: number;
  readonly lost: number;
}

/** The powers that are tried. 1: packets are lost independently. */
export const POWERS = [0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1] as const;

/**
 * How well a belief with this power finds the loss that the network had: the mean of ln(weight of its node), from equal weights.
 * 0 would be certainty; ln(1 / nodes) is no knowledge. Pure.
 */
export function scoreOf(power: number, visits: readonly Counted[]): number {
  return mean(
    visits.map(({ lossRatio, sent, lost }) => {
      const logs = LOSS_NODES.map((node) => {
        const loss = Math.max(node, FLOOR);
        return power * (lost * Math.log(loss) + (sent - lost) * Math.log1p(-loss));
      });
      const most = Math.max(...logs);
      const all = most + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - most), 0));
      return (logs[(LOSS_NODES as readonly number[]).indexOf(lossRatio)] ?? Number.NaN) - all;
    }),
  );
}

/** The scores of each power: of each kind of networks, and their mean. */
export interface PowerScores {
  readonly power: number;
  readonly kinds: readonly number[];
  readonly all: number;
}

/** Scores every power on kinds of networks, each of which counts alike. Pure. */
export function scoresOf(kinds: readonly (readonly Counted[])[]): PowerScores[] {
  return POWERS.map((power) => {
    const scores = kinds.map((visits) => scoreOf(power, visits));
    return { power, kinds: scores, all: mean(scores) };
  });
}

/** The power with the best mean score. */
export function bestPower(scores: readonly PowerScores[]): number {
  return scores.toSorted((a, b) => b.all - a.all)[0]?.power ?? Number.NaN;
}
