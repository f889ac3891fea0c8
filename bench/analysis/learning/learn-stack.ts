import type { Policy } from "../../../policy-api/core/policy.ts";
import { propose } from "../../../policy-api/outcomes/propose.ts";
import { learningOf } from "../../../policy-api/outcomes/results.ts";
import { byPolicy } from "../population/contenders.ts";
import { meanGains } from "../population/judge.ts";
import { drawLife } from "../population/visits.ts";
import { integer, seededRandom } from "../statistics/random.ts";
import { mean } from "../statistics/summary.ts";
import { Outcomes } from "./outcomes.ts";
import { explore, type Visitors } from "./visitors.ts";

export interface LearningInput {
  /** Who comes: their pages' times are of one half of the loads that were measured. */
  readonly visitors: Visitors;
  /** The same clients by the other half. */
  readonly judged: Visitors;
  /** What the deployment begins with, its share of clients that draw included. */
  readonly start: Policy;
  /** After so many visits the policy is judged. In rising order; the last one ends the run. */
  readonly looks: readonly number[];
  /** Between two proposals. */
  readonly visitsToAProposal: number;
}

/** What the policy was worth after so many visits. */
export interface Look {
  readonly visits: number;
  /** The mean gain of a page view under the policy as it was then, without its draws. */
  readonly gain: number;
  /** What draws cost so far: the mean over all page views of ln(time with them / time without). */
  readonly cost: number;
  /** Proposals that were taken. */
  readonly proposals: number;
  /** What the last proposal said, if it proposed nothing. */
  readonly refused: string | undefined;
}

/**
 * Lets visitors come, and takes each proposal as soon as it is made. A proposal is made of all outcomes since the beginning, with
 * the first policy as its prior: one made of the policy before would count older evidence twice.
 */
export function learnStack({ visitors, judged, start, looks, visitsToAProposal }: LearningInput): Look[] {
  const { clients, description, seed } = visitors;
  const random = seededRandom(seed, "who comes");
  const outcomes = new Outcomes();
  const found: Look[] = [];
  let policy = start;
  let [visits, pageViews, cost, proposals] = [0, 0, 0, 0];
  let refused: string | undefined;
  let proposeAt = visitsToAProposal;
  for (let number = 0; found.length < looks.length; number++) {
    const index = integer(clients.length, random);
    const life = drawLife(description, clients.length, true, random);
    const explored = explore({ index, life, number }, policy, visitors, outcomes);
    visits += life.visits.length;
    pageViews += explored.pageViews;
    cost += explored.cost;
    if (visits >= proposeAt) {
      proposeAt += visitsToAProposal;
      const proposal = propose(learningOf(outcomes.gathered(), start));
      refused = proposal.kind === "proposed" ? undefined : proposal.kind;
      if (proposal.kind === "proposed") {
        policy = proposal.policy;
        proposals++;
      }
    }
    if (visits >= (looks[found.length] ?? 0))
      found.push({ visits, gain: gainUnder(policy, judged), cost: cost / pageViews, proposals, refused });
  }
  return found;
}

/** The mean gain of a page view under a policy that lets nobody draw. */
export function gainUnder(policy: Policy, judged: Visitors): number {
  return mean(meanGains(byPolicy(policy), judged, judged, 0));
}
