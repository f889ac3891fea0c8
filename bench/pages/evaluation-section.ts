import type { Values } from "../analysis/tables/template.ts";
import { OHASHI_NETWORKS } from "../analysis/evaluation/published.ts";
import { figuresTable } from "../analysis/tables/figures-table.ts";
import { number, size } from "../analysis/tables/format.ts";
import { fasterWhereLossyAndFar, h2TimesWhereLossyAndFar } from "./claims.ts";
import type { Recorded } from "./recorded.ts";
import { ratioText } from "./series-table.ts";

export function evaluationValues(evaluation: Recorded["evaluation"]): Values {
  return {
    command: evaluation.command,
    ratios: evaluationTable(evaluation),
    withCubic: fasterWhereLossyAndFar(evaluation, "cubic"),
    withBbr: fasterWhereLossyAndFar(evaluation, "bbr"),
    h2Times: h2TimesWhereLossyAndFar(evaluation, "bbr").map(number).join(" to "),
  };
}

function evaluationTable({ cells, gains }: Recorded["evaluation"]): string {
  const congestions = [...new Set(cells.map(({ congestion }) => congestion))];
  const rows = OHASHI_NETWORKS.map(({ network, h2Ms, h3Ms }) => {
    const own = cells.filter((cell) => cell.network.name === network);
    const [first] = own;
    return [
      first === undefined
        ? network
        : `${Number((first.network.lossRatio * 100).toFixed(2))} %, ${first.network.delayMs} ms, ${size(first.imageBytes)}`,
      number(h2Ms / h3Ms),
      ...congestions.map((congestion) => {
        const cell = own.find((one) => one.congestion === congestion);
        const gain = gains.find((one) => one.cell === cell?.id)?.fixedH3;
        return gain == null ? "-" : ratioText({ estimate: 1 + gain.estimate, low: 1 + gain.low, high: 1 + gain.high });
      }),
    ];
  });
  return figuresTable(["loss, delay one way, object", "published: h2 / h3", ...congestions], rows);
}
