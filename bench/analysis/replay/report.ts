import type { TopLevelSpec } from "vega-lite";
import { renderSvg } from "../charts/chart.ts";
import { figuresTable } from "../tables/figures-table.ts";
import { percent } from "../tables/format.ts";
import { OURS } from "./contenders.ts";
import { type ReplayTable, SESSIONS } from "./replay.ts";
import { ORACLE, type Score } from "./score.ts";

export interface ReplayAbout {
  readonly command: string;
  readonly rows: Readonly<Record<string, number>>;
  readonly mix: string;
}

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

/** Tables and pictures of a replay. */
export async function replayReport(
  tables: readonly ReplayTable[],
  about: ReplayAbout,
): Promise<{ markdown: string; pictures: { file: string; svg: string }[] }> {
  const congestions = [...new Set(tables.map(({ congestion }) => congestion))];
  const pictures: { file: string; svg: string }[] = [];
  for (const congestion of congestions)
    pictures.push({
      file: `regret-${congestion}.svg`,
      svg: await renderSvg(picture(tables, congestion)),
    });
  const markdown = `# replay: what every policy would have cost on the recorded loads

\`${about.command}\`

- Rows: ${Object.entries(about.rows)
    .map(([name, count]) => `${count} of ${name}`)
    .join(", ")}.
- "Other run": calibrated on the run of \`calibration\`, scored on that of \`ohashi-evaluation\`, whose cells are others. "Held-out
  cells": the cells of \`calibration\` in four parts, each scored by what the other three were calibrated to.
- Regret: the time expected of the policy's choices over that of the better constant choice (never offer, always offer), less
  one. One half of a cell's loads says which is better, the other what it takes. Wrong choices: of the cells where more than 5 % is
  at stake, those in which over half of that is lost.
- "Above ours": the policy's figure less ours, with the 95 % interval over resampled loads. Below 0 it would be better than ours.
- The first handshake comes before any decision: it counts with the mean of both choices, so that a lost SYN is no regret.
- After a visit: each recorded load is a visit that the next session is decided by, half of them over HTTP/2, half over HTTP/3.
  First page: only the handshake's RTT is known. Three pages: decided anew on each, put together from recorded pages.
- How cautious ours is (half a standard error) was chosen on the held-out cells, so that those tables flatter it there; the other run
  had no part in it.
- The cold start of ours is the mean over: ${about.mix}.
- The paper's zero line is that of our grid at 200 Mbit/s over configured loss, as its server knew it.

${congestions
  .map(
    (congestion) => `## TCP congestion control: ${congestion}

![Regret of all policies, ${congestion}](regret-${congestion}.svg)

${tables
  .filter((table) => table.congestion === congestion)
  .map(
    (table) => `### ${capital(table.sessions)}; ${table.on}, ${table.cells} cells

${figuresTable(HEADS, table.scores.map(row))}`,
  )
  .join("\n\n")}`,
  )
  .join("\n\n")}

## Whether another policy is better than ours

${verdicts(tables).join("\n")}
`;
  return { markdown, pictures };
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

/** Policies whose interval lies wholly below ours, the oracle apart; a sentence for each table. */
function verdicts(tables: readonly ReplayTable[]): string[] {
  return tables.map(({ congestion, sessions, on, scores }) => {
    const better = (figure: "meanAboveOurs" | "worstAboveOurs"): string =>
      scores
        .filter((score) => score.contender !== ORACLE && score.contender !== OURS && score[figure].high < 0)
        .map(({ contender }) => contender)
        .join(", ") || "none";
    return `- ${congestion}, ${sessions}, ${on}: lower in the mean: ${better("meanAboveOurs")}; lower in the worst: ${better("worstAboveOurs")}.`;
  });
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function picture(tables: readonly ReplayTable[], congestion: string): TopLevelSpec {
  const values = tables
    .filter((table) => table.congestion === congestion && table.on === "other run")
    .flatMap(({ sessions, scores }) =>
      scores
        .filter(({ contender }) => contender !== ORACLE)
        .flatMap(({ contender, mean, worst }) => [
          { sessions, contender, figure: "mean", regret: 100 * Math.max(0, mean) },
          { sessions, contender, figure: "worst network", regret: 100 * Math.max(0, worst) },
        ]),
    );
  const order = [...new Set(values.map(({ contender }) => contender))];
  return {
    title: {
      text: `What each policy would have cost: nine networks, TCP with ${congestion}`,
      subtitle: ["Regret against the better of never and always offering, in percent; the axis is linear up to 1."],
    },
    data: { values },
    columns: 1,
    facet: { field: "sessions", type: "nominal", title: null, sort: [...SESSIONS] },
    spec: {
      width: 560,
      height: { step: 22 },
      layer: [
        {
          mark: { type: "rule", color: "#cccccc" },
          encoding: {
            y: { field: "contender", type: "nominal", sort: order, title: null, axis: { labelLimit: 300 } },
            x: { aggregate: "min", field: "regret", type: "quantitative", scale: { type: "symlog" } },
            x2: { aggregate: "max", field: "regret" },
          },
        },
        {
          mark: { type: "point", filled: true, size: 90, opacity: 1 },
          encoding: {
            y: { field: "contender", type: "nominal", sort: order, title: null, axis: { labelLimit: 300 } },
            x: {
              field: "regret",
              type: "quantitative",
              title: "regret (%)",
              scale: { type: "symlog" },
              axis: { values: [0, 1, 2, 5, 10, 20, 50, 100, 200, 500] },
            },
            color: {
              field: "figure",
              type: "nominal",
              title: null,
              scale: { domain: ["mean", "worst network"], range: ["#0072b2", "#d55e00"] },
            },
            shape: {
              field: "figure",
              type: "nominal",
              title: null,
              scale: { domain: ["mean", "worst network"], range: ["circle", "diamond"] },
            },
          },
        },
      ],
    },
  };
}
