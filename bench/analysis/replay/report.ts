import type { TopLevelSpec } from "vega-lite";
import { renderSvg } from "../charts/chart.ts";
import { figuresTable } from "../tables/figures-table.ts";
import { percent } from "../tables/format.ts";
import { fillFile, type Value } from "../tables/template.ts";
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
  const markdown = fillFile("bench/analysis/replay/report.md", {
    command: about.command,
    rows: Object.entries(about.rows)
      .map(([name, count]) => `${count} of ${name}`)
      .join(", "),
    mix: about.mix,
    congestions: congestions.map((congestion) => ({
      congestion,
      tables: tables
        .filter((table) => table.congestion === congestion)
        .map(({ sessions, on, cells, scores }) => ({
          title: `${capital(sessions)}; ${on}, ${cells} cells`,
          figures: figuresTable(HEADS, scores.map(row)),
        })),
    })),
    verdicts: verdicts(tables),
  });
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
