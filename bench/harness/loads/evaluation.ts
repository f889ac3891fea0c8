import type { Arm } from "../../model/arm.ts";
import type { LoadExperiment } from "../../model/load-experiment.ts";
import { fillFile } from "../../analysis/tables/template.ts";
import type { LoadsRecorded } from "./recorded.ts";
import type { Cell } from "../../model/cell.ts";
import { type Flow, imageBytesOf } from "../../model/flow.ts";
import { armBars, type ArmTime } from "../../analysis/charts/arm-bars.ts";
import { evaluate, type Evaluation } from "../../analysis/evaluation/evaluation.ts";
import { evaluationTables, pagedFlows } from "../../analysis/evaluation/evaluation-tables.ts";
import { FEW } from "../../analysis/loads/groups.ts";
import { FAR_RATIO } from "../../analysis/tables/format.ts";
import { OHASHI_NETWORKS } from "../../analysis/evaluation/published.ts";

/** What an experiment that runs all arms finds: load times, choices and regret, beside what was published. */
export type EvaluationSummary = ReturnType<typeof evaluationSummary>;

export function evaluationSummary({ experiment, rows, seed }: LoadsRecorded) {
  return { cells: experiment.cells, ...evaluate(experiment, rows, seed) };
}

/** The sections of a report, one for each congestion control, and their pictures. */
export function evaluationReport(summary: EvaluationSummary, { experiment }: LoadsRecorded) {
  const congestions = [...new Set(experiment.cells.map(({ congestion }) => congestion))];
  const byCongestion = congestions.map((congestion) => {
    const cells = experiment.cells.filter((cell) => cell.congestion === congestion);
    return { congestion, pictures: picturesOf(congestion, cells, experiment, summary) };
  });
  const evaluation = fillFile("bench/harness/loads/evaluation.md", {
    congestions: byCongestion.map(({ congestion, pictures }) => ({
      ...evaluationTables(experiment, summary, congestion),
      pictures: pictures.map(({ file, about }) => ({ file, about })),
    })),
  });
  return { values: { evaluation: evaluation.trimEnd() }, pictures: byCongestion.flatMap(({ pictures }) => pictures) };
}

function picturesOf(congestion: string, cells: readonly Cell[], experiment: LoadExperiment, summary: Evaluation) {
  return pagedFlows(experiment).map((flow) => ({
    file: `load-times-${flow}-${congestion}.svg`,
    about: `Load times of all arms, flow ${flow}, TCP with ${congestion}`,
    spec: armBars(armTimes(cells, summary, flow), {
      title: `Load time by network and arm: ${flow}, TCP with ${congestion}`,
      subtitle: "Panels: network, loss, one-way delay, image. Intervals are cut at ten times the mean.",
    }),
  }));
}

function armTimes(cells: readonly Cell[], { groups }: Evaluation, flow: "trained" | "cold"): ArmTime[] {
  return cells.flatMap((cell) =>
    groups
      .filter((group) => group.cell === cell.id && group.flow === flow && group.n > 0)
      .map(({ arm, meanMs, n }) => ({
        network: panelTitle(cell, flow),
        arm,
        loadMs: meanMs.estimate,
        // An interval of a handful of loads would only stretch the axis.
        ...(n < FEW ? {} : { lowMs: meanMs.low, highMs: Math.min(meanMs.high, FAR_RATIO * meanMs.estimate) }),
        publishedMs: flow === "trained" ? publishedMs(cell, arm) : undefined,
      })),
  );
}

/** Only where the image is as large as the published one: else the times have nothing to do with each other. */
function publishedMs({ network, imageBytes }: Cell, arm: Arm): number | undefined {
  const published = OHASHI_NETWORKS.find((candidate) => candidate.network === network.name);
  if (published === undefined || imageBytes !== 10_000_000) return undefined;
  const { h2Ms, h3Ms, adaptiveMs } = published;
  const times: Readonly<Partial<Record<Arm, number>>> = { "fixed-h2": h2Ms, "fixed-h3": h3Ms, adaptive: adaptiveMs };
  return times[arm];
}

function panelTitle({ network, imageBytes }: Cell, flow: Flow): string {
  const bytes = imageBytesOf(flow, imageBytes);
  return `${network.name}: ${Number((network.lossRatio * 100).toFixed(2))} %, ${network.delayMs} ms, ${bytes / 1e6} MB`;
}
