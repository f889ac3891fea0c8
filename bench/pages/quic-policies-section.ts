import type { Arm } from "../model/arm.ts";
import type { Flow } from "../model/flow.ts";
import { STACK_NAMES } from "../experiments/stacks/findings.ts";
import { percent } from "../analysis/tables/format.ts";
import { tableOf } from "../analysis/tables/table-of.ts";
import { mean } from "../analysis/statistics/summary.ts";
import type { QuicEvaluation } from "./recorded.ts";

export function policiesValues(evaluations: readonly QuicEvaluation[]) {
  const rows = evaluations.flatMap((evaluation) =>
    [...new Set(evaluation.cells.map(({ congestion }) => congestion))].map((congestion) =>
      decisionsOf(evaluation, congestion),
    ),
  );
  return {
    figures: tableOf(rows, [
      ["HTTP/3, TCP", ({ name }) => name],
      ["wrong decisions", ({ wrong, of }) => `${wrong} of ${of.toLocaleString("en-US")}`],
      ["ties", ({ found }) => String(found?.ties ?? "-")],
      ["mean regret", ({ found }) => percent(found?.expected)],
      ["its 95 % bound", ({ found }) => percent(found?.upper95)],
      ["time against HTTP/2 only", ({ overH2 }) => `${change(mean(overH2))} %`],
      ["lowest to highest network", ({ overH2 }) => extremes(overH2)],
      ["against always offering", ({ overOffers }) => `${change(mean(overOffers))} %`],
      ["lowest to highest network", ({ overOffers }) => extremes(overOffers)],
    ]),
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

function decisionsOf({ quic, cells, regrets, means, groups }: QuicEvaluation, congestion: string) {
  const decided = regrets.filter(
    (one) => one.congestion === congestion && one.flow === "trained-on-either" && !one.regret.tie,
  );
  const sum = (of: "count" | "n"): number => decided.reduce((total, { regret }) => total + regret.wrong[of], 0);
  const own = cells.filter((cell) => cell.congestion === congestion).map(({ id }) => id);
  return {
    name: `${STACK_NAMES[quic]}, ${congestion}`,
    wrong: sum("count"),
    of: sum("n"),
    found: means.find((one) => one.congestion === congestion && one.flow === "trained-on-either"),
    overH2: changesOver("fixed-h2", groups, own),
    overOffers: changesOver("always-offer", groups, own),
  };
}

/** In each network, the logarithm of `adaptive`'s median time over another arm's. */
function changesOver(other: Arm, groups: QuicEvaluation["groups"], cells: readonly string[]): number[] {
  const median = (cell: string, arm: Arm, flow: Flow): number => {
    const found = groups.find((group) => group.cell === cell && group.arm === arm && group.flow === flow);
    return Math.log(found?.medianMs.estimate ?? Number.NaN);
  };
  return cells.map(
    (cell) =>
      mean([median(cell, "adaptive", "trained"), median(cell, "adaptive", "trained-on-h2")]) -
      median(cell, other, "trained"),
  );
}

function change(log: number): string {
  return (100 * Math.expm1(log)).toFixed(1);
}

function extremes(logs: readonly number[]): string {
  return `${change(Math.min(...logs))} to ${change(Math.max(...logs))} %`;
}
