import type { Values } from "../analysis/tables/template.ts";
import { figuresTable } from "../analysis/tables/figures-table.ts";
import { growingRegion, lowRates } from "./claims.ts";
import type { GridSummary } from "./recorded.ts";

export function gridValues({ command, cells }: GridSummary): Values {
  const rates = [...new Set(cells.map(({ rateMbps }) => rateMbps))];
  type Where = (cell: GridSummary["cells"][number]) => boolean;
  const count = (congestion: string, winner: string | undefined, where: Where): number =>
    cells.filter(
      (cell) => cell.congestion === congestion && (winner === undefined || cell.winner === winner) && where(cell),
    ).length;
  const slowest = Math.min(...cells.map(({ rateMbps }) => rateMbps));
  const anywhere: Where = () => true;
  const slow: Where = ({ rateMbps }) => rateMbps === slowest;
  const near: Where = ({ delayMs }) => delayMs === 0;
  const lossyAndFar: Where = ({ delayMs, lossPercent }) => delayMs > 0 && lossPercent > 0;
  return {
    cells: cells.length,
    rates: rates.length,
    slowCells: count("cubic", undefined, slow),
    slowestMbps: slowest,
    slowH2Wins: count("cubic", "h2", slow),
    h2Wins: count("cubic", "h2", anywhere),
    nearH2Wins: count("cubic", "h2", near),
    nearCells: count("cubic", undefined, near),
    bbrH2Wins: count("bbr", "h2", lossyAndFar),
    bbrCells: count("bbr", undefined, lossyAndFar),
    bbrH3Wins: count("bbr", "h3", lossyAndFar),
    command,
    winners: gridTable(cells),
    lowRates: lowRates(cells),
    growingRegion: growingRegion(cells),
  };
}

function gridTable(cells: GridSummary["cells"]): string {
  const congestions = [...new Set(cells.map(({ congestion }) => congestion))];
  const rates = [...new Set(cells.map(({ rateMbps }) => rateMbps))].toSorted((one, other) => one - other);
  const rows = rates.map((rate) => [
    `${rate} Mbit/s`,
    ...congestions.flatMap((congestion) =>
      (["h3", "h2", "tie"] as const).map((winner) =>
        String(
          cells.filter((cell) => cell.congestion === congestion && cell.rateMbps === rate && cell.winner === winner)
            .length,
        ),
      ),
    ),
  ]);
  return figuresTable(
    ["rate", ...congestions.flatMap((name) => [`${name}: HTTP/3 wins`, "HTTP/2 wins", "ties"])],
    rows,
  );
}
