import type { Values } from "../analysis/tables/template.ts";
import type { Arm, Quic } from "../model/arm.ts";
import type { Flow } from "../model/flow.ts";
import { STACK_NAMES } from "../experiments/stacks/findings.ts";
import type { CellRegret, Cut, MeanRegret } from "../analysis/evaluation/evaluation.ts";
import type { Group } from "../analysis/loads/groups.ts";
import { figuresTable } from "../analysis/tables/figures-table.ts";
import { percent } from "../analysis/tables/format.ts";
import { mean } from "../analysis/statistics/summary.ts";

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
  readonly groups: readonly Pick<Group, "cell" | "arm" | "flow" | "medianMs" | "http3">[];
  readonly cuts: readonly Cut[];
}

export function policiesValues(evaluations: readonly QuicEvaluation[]): Values {
  const rows = evaluations.flatMap((evaluation) =>
    [...new Set(evaluation.cells.map(({ congestion }) => congestion))].map((congestion) =>
      rowOf(evaluation, congestion),
    ),
  );
  const [first] = evaluations;
  if (first === undefined) throw new Error("No evaluation of another QUIC was recorded.");
  return {
    figures: figuresTable(
      [
        "HTTP/3, TCP",
        "wrong decisions",
        "ties",
        "mean regret",
        "its 95 % bound",
        "time against HTTP/2 only",
        "lowest to highest network",
        "against always offering",
        "lowest to highest network",
      ],
      rows,
    ),
    commands: evaluations
      .map(
        ({ command, quic }) =>
          `\`${command}\`; the [report](../bench/results/evaluation-${quic}/report.md) has all figures.`,
      )
      .join("\n"),
    wrong: wrongText(evaluations),
    slower: slowerText(evaluations),
  };
}

function wrongText(evaluations: readonly QuicEvaluation[]): string {
  const places = evaluations.flatMap(({ quic, regrets }) =>
    regrets
      .filter(({ flow, regret }) => flow === "trained-on-either" && !regret.tie && regret.wrong.share > 0.1)
      .map(
        ({ network, congestion, regret: { wrong, expected } }) =>
          `network ${network} with ${STACK_NAMES[quic]} beside ${congestion} (${wrong.count} of ${wrong.n}; regret ${percent(expected?.estimate)})`,
      ),
  );
  return places.length === 0 ? "nowhere" : places.join(", ");
}

function slowerText(evaluations: readonly QuicEvaluation[]): string {
  const places = evaluations.flatMap(({ quic, cells, cuts, groups }) =>
    cuts.flatMap(({ cell, fixedH2 }) => {
      if (fixedH2 == null || fixedH2.low <= 0) return [];
      const own = groups.filter((group) => group.cell === cell && group.arm === "adaptive");
      const switched = own.some(({ http3 }) => http3.share > 0);
      const congestion = cells.find(({ id }) => id === cell)?.congestion;
      return [
        `network ${cell.split("-")[0]} with ${STACK_NAMES[quic]} beside ${congestion} (by ${percent(fixedH2.estimate)}${switched ? "" : ", never switched"})`,
      ];
    }),
  );
  return places.length === 0 ? "no network" : places.join(", ");
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
    ...changeTexts(groups, own, "fixed-h2"),
    ...changeTexts(groups, own, "always-offer"),
  ];
}

/** The geometric mean over networks of `adaptive`'s median time over another's, less 1; and its extremes. */
function changeTexts(groups: QuicEvaluation["groups"], cells: readonly string[], other: Arm): [string, string] {
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
  return [`${of(mean(changes))} %`, `${of(Math.min(...changes))} to ${of(Math.max(...changes))} %`];
}
