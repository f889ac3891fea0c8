import type { Arm, Quic } from "../experiments/arms.ts";
import type { Flow } from "../experiments/experiment.ts";
import { STACK_NAMES } from "../report/stacks-report.ts";
import type { CellRegret, MeanRegret } from "../report/evaluation.ts";
import type { Group } from "../report/groups.ts";
import { figuresTable } from "../report/figures-table.ts";
import { percent } from "../report/format.ts";
import { mean } from "../stats/summary.ts";

/** Of summary.json, what the page shows of an evaluation with another QUIC. */
export interface QuicEvaluation {
  readonly quic: Exclude<Quic, "quic-go">;
  readonly command: string;
  readonly cells: readonly { readonly id: string; readonly congestion: string }[];
  readonly regrets: readonly CellRegret[];
  readonly means: readonly (Pick<MeanRegret, "congestion" | "flow" | "ties"> & {
    readonly expected: number | null;
    readonly upper95: number | null;
  })[];
  readonly groups: readonly Pick<Group, "cell" | "arm" | "flow" | "medianMs">[];
}

export function quicPoliciesSection(evaluations: readonly QuicEvaluation[]): string {
  const rows = evaluations.flatMap((evaluation) =>
    [...new Set(evaluation.cells.map(({ congestion }) => congestion))].map((congestion) =>
      rowOf(evaluation, congestion),
    ),
  );
  const [first] = evaluations;
  if (first === undefined) throw new Error("No evaluation of another QUIC was recorded.");
  return `## Policies for another QUIC, live

A policy for each of quiche's congestion controls beside each of TCP's was calibrated like those for quic-go, and is
[shipped](../policy-api/policies). Here they decide, in the nine networks: a page after a visit over either protocol. Regret is what a
wrong choice takes longer, as a mean over the networks in which the two protocols differ; in those decisions are counted, too. Times are
adaptive's against another arm's: medians, as of so few loads one that lost its last packet makes a mean; the geometric mean over the
nine networks, and the one that gains most and the one that loses most.

![Load times of all arms in the nine networks, HTTP/3 by quiche with BBRv2, TCP with cubic](../bench/results/evaluation-quiche-bbr2/load-times-trained-cubic.svg)

${figuresTable(
  [
    "HTTP/3, TCP",
    "wrong decisions",
    "ties",
    "mean regret",
    "its 95 % bound",
    "time against HTTP/2 only",
    "against always offering",
  ],
  rows,
)}

${evaluations.map(({ command, quic }) => `\`${command}\`; the [report](../bench/results/evaluation-${quic}/report.md) has all figures.`).join("\n")}

- Behind quiche is no worker: an offer cannot be taken back on a later page, and first visits are not in this.`;
}

function rowOf({ quic, cells, regrets, means, groups }: QuicEvaluation, congestion: string): string[] {
  const found = means.find((one) => one.congestion === congestion && one.flow === "trained-on-either");
  const decided = regrets.filter(
    (one) => one.congestion === congestion && one.flow === "trained-on-either" && !one.regret.tie,
  );
  const sum = (of: "count" | "n"): number => decided.reduce((total, { regret }) => total + regret.wrong[of], 0);
  const own = cells.filter((cell) => cell.congestion === congestion).map(({ id }) => id);
  return [
    `${STACK_NAMES[quic]}, ${congestion}`,
    `${sum("count")} of ${sum("n").toLocaleString("en-US")}`,
    String(found?.ties ?? "-"),
    percent(found?.expected),
    percent(found?.upper95),
    changeText(groups, own, "fixed-h2"),
    changeText(groups, own, "always-offer"),
  ];
}

/** The geometric mean over networks of `adaptive`'s median time over another's, less 1, and its extremes. */
function changeText(groups: QuicEvaluation["groups"], cells: readonly string[], other: Arm): string {
  const median = (cell: string, arm: Arm, flow: Flow): number =>
    Math.log(
      groups.find((group) => group.cell === cell && group.arm === arm && group.flow === flow)?.medianMs.estimate ??
        Number.NaN,
    );
  const changes = cells.map(
    (cell) =>
      mean((["trained", "trained-on-h2"] as const).map((flow) => median(cell, "adaptive", flow))) -
      median(cell, other, "trained"),
  );
  const of = (log: number): string => (100 * Math.expm1(log)).toFixed(1);
  return `${of(mean(changes))} % (${of(Math.min(...changes))} to ${of(Math.max(...changes))})`;
}
