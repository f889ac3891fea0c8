import type { DrawnArm } from "../../../policy-api/outcomes/outcome-row.ts";
import { drawnArm } from "../../../policy-api/core/decide.ts";
import type { Policy } from "../../../policy-api/core/policy.ts";
import type { PopulationDescription } from "../../model/population.ts";
import { byPolicy } from "../population/contenders.ts";
import { type Asked, type Contender, play, type Playing, type View } from "../population/play.ts";
import type { Life } from "../population/visits.ts";
import { seededRandom } from "../statistics/random.ts";
import type { Outcomes } from "./outcomes.ts";

export interface Visitors extends Playing {
  readonly description: PopulationDescription;
  readonly seed: number;
}

/** One client's life under a policy that lets some clients draw. */
export interface Explored {
  readonly pageViews: number;
  /** By how much the draw made its pages slower than the policy alone: the sum of ln(time) over its page views. */
  readonly cost: number;
}

/**
 * Lets a client live. If it draws an arm, its pages are told to `outcomes`, and it lives once more without the draw, to see
 * what the draw costs. A client that comes back from another address is another one, and draws anew.
 */
export function explore(
  { index, life, number }: { readonly index: number; readonly life: Life; readonly number: number },
  policy: Policy,
  visitors: Visitors,
  outcomes: Outcomes,
): Explored {
  const { seed } = visitors;
  const draws = seededRandom(seed, "draws", number);
  // Of each page: which client of the store it is, and its arm.
  let client = -1;
  let arm: DrawnArm | undefined;
  const pages = life.visits.flatMap(({ pagesAtMs, isMoved }, visit) =>
    pagesAtMs.map((_, page) => {
      if (page === 0 && (visit === 0 || isMoved)) {
        client++;
        arm = drawnArm(policy, draws());
      }
      return { client, arm };
    }),
  );
  const pageViews = pages.length;
  if (pages.every((page) => page.arm === undefined)) return { pageViews, cost: 0 };
  const live = (contender: Contender, tell?: Parameters<typeof play>[5]): View[] =>
    play(index, life, contender, visitors, seededRandom(seed, "play", number), tell);
  const alone = live(byPolicy(policy));
  let page = 0;
  const drawing: Contender = (asked) => answerTo(pages[page]?.arm, policy, asked);
  const explored = live(drawing, (taken) => {
    const { client: whose, arm: drawn } = pages[page++] ?? {};
    if (drawn !== undefined) outcomes.add(`${number}/${whose}`, drawn, policy, taken);
  });
  outcomes.flush();
  const sum = (views: readonly View[]): number => views.reduce((logs, { ms }) => logs + Math.log(ms), 0);
  return { pageViews, cost: sum(explored) - sum(alone) };
}

function answerTo(arm: DrawnArm | undefined, policy: Policy, asked: Asked): number {
  if (arm === undefined) return byPolicy(policy)(asked);
  return arm === "offer" ? policy.ma.maxS : 0;
}
