import type { Congestion } from "../../model/congestion.ts";
import type { NavigationRow } from "./row.ts";
import { FOLLOW_WITHIN, isOnB, type Scenario, type Stretch, STRETCHES } from "./scenarios.ts";
import { changesOf, inOrder, navigationsUntil, type Settled, settledAnswer, VOTERS } from "./settle.ts";

export type Verdict = "followed" | "not followed" | "within the margin" | "nothing to follow" | "never settled";

/** What was found of one scenario under one congestion control. */
export type Finding = ReturnType<typeof findingOf>;

const LETTERS = { offer: "H", none: "-", clear: "c", unknown: "?" } as const;

/**
 * @param rows of one scenario and congestion control
 * @param eitherIsRight whether the policy's answer to a client that was measured so hangs on the one before (margin.ts)
 */
export function findingOf(
  scenario: Scenario["name"],
  congestion: Congestion,
  rows: readonly NavigationRow[],
  eitherIsRight: (row: NavigationRow) => boolean,
) {
  const clients = [...new Set(rows.map(({ client }) => client))].sort((one, other) => one - other);
  const stretchOf = (client: number, stretch: Stretch): NavigationRow[] =>
    inOrder(rows.filter((row) => row.client === client && row.stretch === stretch));
  // Of clients that knew no other path: those that come from one are what is judged.
  const settledA = settledAnswer(rows.filter(({ stretch }) => stretch === "A1"));
  const settledB = settledAnswer(rows.filter(({ stretch }) => stretch === "B0"));
  /** How clients were followed in one direction. */
  const following = (direction: "A to B" | "B to A", stretch: "B" | "A2", from: Settled, to: Settled) => {
    const answers = clients.map((client) => stretchOf(client, stretch).map(({ answer }) => answer));
    // Navigations after the change until the answer settled, of each client; null: not within the stretch.
    const until = answers.map((own) => (to.offers === null ? null : navigationsUntil(own, to.offers)));
    const isWithinMargin = STRETCHES.filter((one) => isOnB(one) === isOnB(stretch)).some((one) =>
      clients.some((client) => stretchOf(client, one).slice(-VOTERS).some(eitherIsRight)),
    );
    // Changes of answer within the stretch, of each client.
    const changes = answers.map(changesOf);
    return { direction, until, changes, verdict: verdictOf(from, to, until, isWithinMargin) };
  };
  const letters = (client: number, stretch: Stretch): string =>
    stretchOf(client, stretch)
      .map(({ answer }) => LETTERS[answer])
      .join("");
  return {
    scenario,
    congestion,
    settledA,
    settledB,
    followings: [following("A to B", "B", settledA, settledB), following("B to A", "A2", settledB, settledA)],
    /** Of each client and stretch (A1, B, A2, B0), a letter a navigation: H offered, - nothing, c taken back, ? unknown. */
    answers: clients.map((client) => ({ client, stretches: STRETCHES.map((stretch) => letters(client, stretch)) })),
    failed: rows.filter(({ outcome }) => outcome !== "ok").length,
  };
}

/** The same rows, each with what was settled on its path. */
export function withSettled(rows: readonly NavigationRow[], findings: readonly Finding[]): NavigationRow[] {
  return rows.map((row) => {
    const found = findings.find((one) => one.scenario === row.scenario && one.congestion === row.congestion);
    const offers = (isOnB(row.stretch) ? found?.settledB : found?.settledA)?.offers ?? null;
    return { ...row, settled: offers === null ? "" : offers ? "offer" : "none" };
  });
}

function verdictOf(from: Settled, to: Settled, until: readonly (number | null)[], isWithinMargin: boolean): Verdict {
  if (from.offers === null || to.offers === null) return "never settled";
  if (from.offers === to.offers) return "nothing to follow";
  if (until.every((count) => count !== null && count <= FOLLOW_WITHIN)) return "followed";
  return isWithinMargin ? "within the margin" : "not followed";
}
