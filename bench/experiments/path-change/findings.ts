import type { Congestion } from "../../model/congestion.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import type { NavigationRow } from "./row.ts";
import { ALL_STRETCHES, CONTROL, FOLLOW_WITHIN, type Scenario, type Stretch } from "./scenarios.ts";
import { changesOf, inOrder, navigationsUntil, type Settled, settledAnswer, VOTERS } from "./settle.ts";

export type Verdict = "followed" | "not followed" | "within the margin" | "nothing to follow" | "never settled";

/** How clients were followed in one direction. */
export interface Following {
  readonly direction: "A to B" | "B to A";
  /** Navigations after the change until the answer settled, of each client; null: not within the stretch. */
  readonly until: readonly (number | null)[];
  /** Changes of answer within the stretch, of each client. */
  readonly changes: readonly number[];
  readonly verdict: Verdict;
}

export interface StretchLoads {
  readonly stretch: Stretch;
  /** Means over clients, of each navigation; null where none was complete. */
  readonly meanLoadMs: readonly (number | null)[];
}

/** What was found of one scenario under one congestion control. */
export interface Finding {
  readonly scenario: Scenario["name"];
  readonly congestion: Congestion;
  readonly clients: number;
  readonly settledA: Settled;
  readonly settledB: Settled;
  readonly followings: readonly Following[];
  readonly loads: readonly StretchLoads[];
  /** Of each client and stretch, a letter a navigation: H offered, - nothing, c taken back, ? unknown. */
  readonly answers: readonly { readonly client: number; readonly byStretch: Readonly<Record<Stretch, string>> }[];
  readonly failed: number;
  /** Their times say little. */
  readonly dropped: number;
}

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
): Finding {
  const clients = [...new Set(rows.map(({ client }) => client))].sort((one, other) => one - other);
  const stretchOf = (client: number, stretch: Stretch): NavigationRow[] =>
    inOrder(rows.filter((row) => row.client === client && row.stretch === stretch));
  // Of clients that knew no other path: those that come from one are what is judged.
  const settledA = settledAnswer(rows.filter(({ stretch }) => stretch === "A1"));
  const settledB = settledAnswer(rows.filter(({ stretch }) => stretch === CONTROL));
  const isWithinMargin = (stretches: readonly Stretch[]): boolean =>
    clients.some((client) =>
      stretches.some((stretch) => stretchOf(client, stretch).slice(-VOTERS).some(eitherIsRight)),
    );
  const following = (direction: Following["direction"], stretch: Stretch, from: Settled, to: Settled): Following => {
    const answers = clients.map((client) => stretchOf(client, stretch).map(({ answer }) => answer));
    const until = answers.map((own) => (to.offers === null ? null : navigationsUntil(own, to.offers)));
    return {
      direction,
      until,
      changes: answers.map((own) => changesOf(own)),
      verdict: verdictOf(from, to, until, isWithinMargin(stretch === "B" ? ["B", CONTROL] : ["A1", "A2"])),
    };
  };
  return {
    scenario,
    congestion,
    clients: clients.length,
    settledA,
    settledB,
    followings: [following("A to B", "B", settledA, settledB), following("B to A", "A2", settledB, settledA)],
    loads: ALL_STRETCHES.map((stretch) => ({
      stretch,
      meanLoadMs: meanLoads(clients.map((c) => stretchOf(c, stretch))),
    })),
    answers: clients.map((client) => {
      const letters = (stretch: Stretch): string =>
        stretchOf(client, stretch)
          .map(({ answer }) => LETTERS[answer])
          .join("");
      return { client, byStretch: { A1: letters("A1"), B: letters("B"), A2: letters("A2"), B0: letters(CONTROL) } };
    }),
    failed: rows.filter(({ outcome }) => outcome !== "ok").length,
    dropped: rows.filter(({ dropped }) => dropped !== "").length,
  };
}

/** The same rows, each with what was settled on its path. */
export function withSettled(rows: readonly NavigationRow[], findings: readonly Finding[]): NavigationRow[] {
  return rows.map((row) => {
    const found = findings.find(
      ({ scenario, congestion }) => scenario === row.scenario && congestion === row.congestion,
    );
    const settled =
      (row.stretch === "B" || row.stretch === CONTROL ? found?.settledB : found?.settledA)?.offers ?? null;
    return { ...row, settled: settled === null ? "" : settled ? "offer" : "none" };
  });
}

function verdictOf(from: Settled, to: Settled, until: readonly (number | null)[], isWithinMargin: boolean): Verdict {
  if (from.offers === null || to.offers === null) return "never settled";
  if (from.offers === to.offers) return "nothing to follow";
  return until.every((count) => count !== null && count <= FOLLOW_WITHIN)
    ? "followed"
    : isWithinMargin
      ? "within the margin"
      : "not followed";
}

function meanLoads(stretches: readonly (readonly NavigationRow[])[]): (number | null)[] {
  const longest = Math.max(0, ...stretches.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => {
    const times = stretches.flatMap((rows) => {
      const row = rows[i];
      return row === undefined || row.outcome !== "ok" || row.loadMs === null ? [] : [row.loadMs];
    });
    return times.length === 0 ? null : mean(times);
  });
}
