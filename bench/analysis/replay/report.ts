import { percent } from "../tables/format.ts";
import { tableOf } from "../tables/table-of.ts";
import { fillFile, type Value } from "../tables/template.ts";
import { OURS } from "./contenders.ts";
import type { ReplayTable } from "./replay.ts";
import { ORACLE, type Score } from "./score.ts";

/** The tables of a replay. */
export function replayReport(
  tables: readonly ReplayTable[],
  about: { readonly command: string; readonly mix: string; readonly rows: Readonly<Record<string, number>> },
): string {
  return fillFile("bench/analysis/replay/report.md", {
    ...about,
    rows: Object.entries(about.rows)
      .map(([name, count]) => `${count} of ${name}`)
      .join(", "),
    congestions: [...Map.groupBy(tables, ({ congestion }) => congestion)].map(([congestion, own]) => ({
      congestion,
      tables: own.map(({ sessions, on, cells, scores }) => ({
        title: `${capital(sessions)}; ${on}, ${cells} cells`,
        figures: scoresTable(scores),
      })),
    })),
    verdicts: verdicts(tables),
  });
}

function scoresTable(scores: readonly Score[]): string {
  const percents = (ratio: number): string => (100 * ratio).toFixed(1);
  const points = (score: Score, figure: "meanAboveOurs" | "worstAboveOurs"): string => {
    const { estimate, low, high } = score[figure];
    return score.contender === OURS ? "-" : `${percents(estimate)} (${percents(low)} to ${percents(high)})`;
  };
  return tableOf(scores, [
    ["policy", ({ contender }) => (contender === OURS ? `**${contender}**` : contender)],
    ["mean regret", ({ mean }) => percent(mean)],
    ["p95", ({ p95 }) => percent(p95)],
    ["worst", ({ worst }) => percent(worst)],
    ["in", ({ worstCell }) => worstCell],
    ["wrong choices", ({ wrongShare }) => percent(wrongShare)],
    ["mean above ours (points)", (score) => points(score, "meanAboveOurs")],
    ["worst above ours (points)", (score) => points(score, "worstAboveOurs")],
  ]);
}

/** Policies whose interval lies wholly below ours, the oracle apart, of each table. */
function verdicts(tables: readonly ReplayTable[]): Value[] {
  return tables.map(({ congestion, sessions, on, scores }) => {
    const better = (figure: "meanAboveOurs" | "worstAboveOurs"): string =>
      scores
        .filter((score) => score.contender !== ORACLE && score.contender !== OURS && score[figure].high < 0)
        .map(({ contender }) => contender)
        .join(", ") || "none";
    return {
      where: `${congestion}, ${sessions}, ${on}`,
      lowerMean: better("meanAboveOurs"),
      lowerWorst: better("worstAboveOurs"),
    };
  });
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
