import type { Answer, NavigationRow } from "./row.ts";

/** Of each stretch so many navigations vote for the settled answer: by then a policy knows its path. */
export const VOTERS = 3;

/** Whether HTTP/3 is offered once a path is known. */
export interface Settled {
  /** Null where the votes tie, or there are none. */
  readonly offers: boolean | null;
  /** Votes for it, of all. */
  readonly votes: number;
  readonly of: number;
}

/** Whether each answer that is known offers HTTP/3. `clear` and nothing both withhold; which of them depends on what a client may hold. */
function offersIn(answers: readonly Answer[]): boolean[] {
  return answers.filter((answer) => answer !== "unknown").map((answer) => answer === "offer");
}

/** What most of the last navigations of each client's stretches got; the rows are those of one path. */
export function settledAnswer(rows: readonly NavigationRow[]): Settled {
  const stretches = Map.groupBy(rows, ({ client, stretch }) => `${client} ${stretch}`);
  const last = [...stretches.values()].flatMap((stretch) => inOrder(stretch).slice(-VOTERS));
  const votes = offersIn(last.map(({ answer }) => answer));
  const yes = votes.filter(Boolean).length;
  const no = votes.length - yes;
  return { offers: yes === no ? null : yes > no, votes: Math.max(yes, no), of: votes.length };
}

/**
 * How many navigations of a stretch pass before the settled answer holds for good; null where the last one is still
 * another. What is unknown neither breaks nor makes it.
 */
export function navigationsUntil(answers: readonly Answer[], settledOffers: boolean): number | null {
  if (offersIn(answers).at(-1) !== settledOffers) return null;
  return 1 + answers.findLastIndex((answer) => offersIn([answer])[0] === !settledOffers);
}

/** How often the answer changes within a stretch. To follow a change takes one, or none. */
export function changesOf(answers: readonly Answer[]): number {
  const known = offersIn(answers);
  return known.filter((answer, i) => i > 0 && answer !== known[i - 1]).length;
}

export function inOrder(stretch: readonly NavigationRow[]): NavigationRow[] {
  return stretch.toSorted((one, other) => one.number - other.number);
}
