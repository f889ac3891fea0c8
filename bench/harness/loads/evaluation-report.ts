import type { Cell } from "../../model/cell.ts";
import { type Flow, imageBytesOf } from "../../model/flow.ts";
import { armBars, type ArmTime } from "../../analysis/charts/arm-bars.ts";
import { renderSvg } from "../../analysis/charts/chart.ts";
import { type DecisionFlow, evaluate, type Evaluation } from "../../analysis/evaluation/evaluation.ts";
import { evaluationTables, pagedFlows } from "../../analysis/evaluation/evaluation-tables.ts";
import { FEW } from "../../analysis/loads/groups.ts";
import { FAR_RATIO } from "../../analysis/tables/format.ts";
import { differences } from "../../analysis/evaluation/differences.ts";
import { reportHead } from "./head.ts";
import { OHASHI_NETWORKS, publishedRegret } from "../../analysis/evaluation/published.ts";
import { type RegretBar, regretBars } from "../../analysis/charts/regret-bars.ts";
import type { Report, ReportInput } from "./report.ts";

/** The report of an experiment that runs all arms: load times, choices and regret, beside what was published. */
export async function evaluationReport(input: ReportInput): Promise<Report> {
  const { experiment, rows, starts, command, seed } = input;
  const evaluation = evaluate(experiment, rows, seed);
  const congestions = [...new Set(experiment.cells.map(({ congestion }) => congestion))];
  const pictures: { file: string; svg: string; about: string }[] = [];
  for (const congestion of congestions) {
    const cells = experiment.cells.filter((cell) => cell.congestion === congestion);
    for (const flow of pagedFlows(experiment))
      pictures.push({
        file: `load-times-${flow}-${congestion}.svg`,
        about: `Load times of all arms, flow ${flow}, TCP with ${congestion}`,
        svg: await renderSvg(
          armBars(armTimes(cells, evaluation, flow), {
            title: `Load time by network and arm: ${flow}, TCP with ${congestion}`,
            subtitle: "Panels: network, loss, one-way delay, image. Intervals are cut at ten times the mean.",
          }),
        ),
      });
    pictures.push({
      file: `regret-${congestion}.svg`,
      about: `Regret of adaptive, TCP with ${congestion}`,
      svg: await renderSvg(
        regretBars(regretRows(cells, evaluation), {
          title: `What deciding costs: adaptive against the better choice, TCP with ${congestion}`,
        }),
      ),
    });
  }
  const markdown = [
    reportHead(input),
    ...congestions.map((congestion) =>
      [
        evaluationTables(experiment, evaluation, congestion),
        ...pictures
          .filter(({ file }) => file.endsWith(`-${congestion}.svg`))
          .map(({ file, about }) => `![${about}](${file})`),
      ].join("\n\n"),
    ),
    // What was published is of one stack; of another it is no difference that wants a cause.
    ...(input.quic === "quic-go" ? [differences(experiment, evaluation)] : []),
  ].join("\n\n");
  return {
    summary: {
      experiment: experiment.name,
      command,
      starts,
      rows: rows.length,
      cells: experiment.cells,
      ...evaluation,
    },
    markdown,
    pictures,
  };
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
function publishedMs({ network, imageBytes }: Cell, arm: string): number | undefined {
  const published = OHASHI_NETWORKS.find((candidate) => candidate.network === network.name);
  if (published === undefined || imageBytes !== 10_000_000) return undefined;
  return arm === "fixed-h2"
    ? published.h2Ms
    : arm === "fixed-h3"
      ? published.h3Ms
      : arm === "adaptive"
        ? published.adaptiveMs
        : undefined;
}

function panelTitle({ network, imageBytes }: Cell, flow: Flow): string {
  const bytes = imageBytesOf(flow, imageBytes);
  return `${network.name}: ${Number((network.lossRatio * 100).toFixed(2))} %, ${network.delayMs} ms, ${bytes / 1e6} MB`;
}

function regretRows(cells: readonly Cell[], { regrets }: Evaluation): RegretBar[] {
  return cells.flatMap(({ id, network }) => {
    const after = (flow: DecisionFlow) => regrets.find((one) => one.cell === id && one.flow === flow)?.regret;
    const found = after("trained-on-either") ?? after("trained");
    if (found === undefined) return [];
    const published = OHASHI_NETWORKS.find((candidate) => candidate.network === network.name);
    const bar = (part: string, value: typeof found.total | undefined, of?: number): RegretBar => ({
      network: network.name,
      part,
      regret: value?.estimate,
      low: value?.low,
      high: value?.high,
      published: of,
      tie: found.tie,
    });
    return [
      ...(found.expected === undefined ? [] : [bar("of decisions", found.expected)]),
      bar("of raw load times", found.total),
      bar("to the free choice", found.toFreeChoice, published === undefined ? undefined : publishedRegret(published)),
    ];
  });
}
