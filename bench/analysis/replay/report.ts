import { figuresTable } from "../tables/figures-table.ts";
import { percent } from "../tables/format.ts";
import { fillFile, type Value } from "../tables/template.ts";
import { OURS } from "./contenders.ts";
import type { ReplayTable } from "./replay.ts";
import { ORACLE, type Score } from "./score.ts";

const HEADS = [
  "policy",
  "mean regret",
  "p95",
  "worst",
  "in",
  "wrong choices",
  "mean above ours (points)",
  "worst above ours (points)",
];

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
        figures: figuresTable(HEADS, scores.map(row)),
      })),
    })),
    verdicts: verdicts(tables),
  });
}

function row(score: Score): string[] {
  const isOurs = score.contender === OURS;
  const points = ({ estimate, low, high }: Score["meanAboveOurs"]): string =>
    isOurs ? "-" : `${(100 * estimate).toFixed(1)} (${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)})`;
  return [
    isOurs ? `**${score.contender}**` : score.contender,
    percent(score.mean),
    percent(score.p95),
    percent(score.worst),
    score.worstCell,
    percent(score.wrongShare),
    points(score.meanAboveOurs),
    points(score.worstAboveOurs),
  ];
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
