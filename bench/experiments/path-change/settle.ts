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

/** `clear` and nothing both withhold; which one it is depends on what a client may hold. */
export function offers(answer: Answer): boolean | null {
  return answer === "unknown" ? null : answer === "offer";
}

/** What most of the last navigations of each client's stretches got; the rows are those of one path. */
export function settledAnswer(rows: readonly NavigationRow[]): Settled {
  const stretches = Map.groupBy(rows, ({ client, stretch }) => `${client} ${stretch}`);
  const votes = [...stretches.values()]
    .flatMap((stretch) => inOrder(stretch).slice(-VOTERS))
    .map(({ answer }) => offers(answer))
    .filter((vote) => vote !== null);
  const yes = votes.filter(Boolean).length;
  const no = votes.length - yes;
  return { offers: yes === no ? null : yes > no, votes: Math.max(yes, no), of: votes.length };
}

/**
 * How many navigations of a stretch pass before the settled answer holds for good; null where the last one is still
 * another. What is unknown neither breaks nor makes it.
 */
export function navigationsUntil(answers: readonly Answer[], settledOffers: boolean): number | null {
  const known = answers.map((answer) => offers(answer));
  const last = known.findLastIndex((answer) => answer !== null);
  const lastOther = known.findLastIndex((answer) => answer !== null && answer !== settledOffers);
  return last === -1 || lastOther === last ? null : lastOther + 1;
}

/** How often the answer changes within a stretch. To follow a change takes one, or none. */
export function changesOf(answers: readonly Answer[]): number {
  const known = answers.map((answer) => offers(answer)).filter((answer) => answer !== null);
  return known.filter((answer, i) => i > 0 && answer !== known[i - 1]).length;
}

export function inOrder(stretch: readonly NavigationRow[]): NavigationRow[] {
  return stretch.toSorted((one, other) => one.number - other.number);
}
