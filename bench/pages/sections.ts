import { number, size, withInterval } from "../analysis/tables/format.ts";
import { type Column, tableOf } from "../analysis/tables/table-of.ts";
import { movedText, ratiosTable, type Stack, zerosTable } from "../experiments/stacks/findings.ts";
import { findWay } from "../experiments/tcp-congestion/findings.ts";
import { findingsTable, TCP_CONGESTION_SOURCE, wayFigures } from "../experiments/tcp-congestion/tables.ts";
import {
  claimed,
  fasterWhereLossyAndFar,
  growingRegion,
  h2TimesWhereLossyAndFar,
  lowRates,
  oneWindow,
} from "./claims.ts";
import { winnersTable } from "./network-tables.ts";
import { known, type Recorded, type RecordedEvaluation } from "./recorded.ts";

const WHERE = {
  anywhere: () => true,
  slow: ({ rateMbps }) => rateMbps === 50,
  near: ({ delayMs }) => delayMs === 0,
  lossyAndFar,
} satisfies Record<string, (cell: Recorded["grid"]["cells"][number]) => boolean>;

function lossyAndFar({ delayMs, lossPercent }: { delayMs: number; lossPercent: number }): boolean {
  return delayMs > 0 && lossPercent > 0;
}

export function gridValues({ command, cells }: Recorded["grid"]) {
  const count = (congestion: string, where: keyof typeof WHERE, winner?: string): number =>
    cells.filter(
      (cell) => cell.congestion === congestion && WHERE[where](cell) && (winner ?? cell.winner) === cell.winner,
    ).length;
  type Rate = readonly [rateMbps: number, cells: typeof cells];
  const byRate: Rate[] = [...Map.groupBy(cells, ({ rateMbps }) => rateMbps)].toSorted(([one], [other]) => one - other);
  return {
    command,
    cells: cells.length,
    rates: byRate.length,
    count,
    winners: tableOf(byRate, [
      ["rate", ([rate]) => `${rate} Mbit/s`],
      ...["cubic", "bbr"].flatMap((name): Column<Rate>[] => {
        const won = (own: typeof cells, winner: string): string =>
          String(own.filter((cell) => cell.congestion === name && cell.winner === winner).length);
        return [
          [`${name}: HTTP/3 wins`, ([, own]) => won(own, "h3")],
          ["HTTP/2 wins", ([, own]) => won(own, "h2")],
          ["ties", ([, own]) => won(own, "tie")],
        ];
      }),
    ]),
    lowRates: lowRates(cells),
    growingRegion: growingRegion(cells),
  };
}

export function evaluationValues(evaluation: RecordedEvaluation) {
  return {
    command: evaluation.command,
    ratios: winnersTable(evaluation, true),
    withCubic: fasterWhereLossyAndFar(evaluation, "cubic"),
    withBbr: fasterWhereLossyAndFar(evaluation, "bbr"),
    h2Times: h2TimesWhereLossyAndFar(evaluation, "bbr").map(number).join(" to "),
  };
}

export function congestionValues(summary: Recorded["congestion"]) {
  const { command, findings, ways } = summary;
  const lowerBeta = findings.find(({ published }) => published === "beta 0.2 was slower than 0.3")?.verdict;
  return {
    ...wayFigures(summary, (cell, arm) => known(findWay(ways, cell, arm), `${arm} in ${cell}`)),
    command,
    source: TCP_CONGESTION_SOURCE,
    findings: findingsTable(findings),
    window: oneWindow(ways),
    windowIsTheCause: claimed(oneWindow(ways) === "Holds", "one connection's window is the cause"),
    lowerBeta,
    lowerBetaIsSlower: claimed(lowerBeta === "Does not hold", "that beta 0.2 is slower than 0.3"),
    bbrOverH3: withInterval(summary.bbrOverH3),
  };
}

export function stacksValues({ command, cells, zeros }: Recorded["stacks"]) {
  return {
    command,
    ratios: ratiosTable(cells),
    zeros: zerosTable(zeros),
    moved: (stack: Stack) => movedText(cells, stack),
    /** The least and the most ratio where there is loss and delay. */
    range: (stack: Stack, congestion: string) => {
      const ratios = cells
        .filter((cell) => cell.stack === stack && cell.congestion === congestion && lossyAndFar(cell))
        .flatMap(({ ratio }) => ratio?.estimate ?? []);
      return `${number(Math.min(...ratios))} to ${number(Math.max(...ratios))}`;
    },
  };
}

export function memoryValues({ command, bytes, rateMbps, delayMs, crowds, perClient, ...ratios }: Recorded["memory"]) {
  const clients = Math.max(...crowds.map((crowd) => crowd.clients));
  const largest = crowds.filter((crowd) => crowd.clients === clients);
  const slope = ({ protocol }: { protocol: string }) => perClient.find((one) => one.protocol === protocol);
  return {
    command,
    clients,
    size: size(bytes),
    rateMbps,
    delayMs,
    figures: tableOf(largest, [
      [`${clients} clients`, ({ protocol }) => (protocol === "h2" ? "HTTP/2" : "HTTP/3 (quic-go)")],
      ["the edge, MiB", ({ edgeMiB }) => withInterval(edgeMiB)],
      ["the kernel, MiB", ({ socketsMiB }) => number(socketsMiB)],
      ["both at once, MiB", ({ serverMiB }) => withInterval(serverMiB)],
      ["a client more: the edge, KiB", (crowd) => withInterval(slope(crowd)?.edgeKiB)],
      ["both, KiB", (crowd) => withInterval(slope(crowd)?.serverKiB)],
    ]),
    edgeRatio: withInterval(ratios.edgeRatio),
    serverRatio: withInterval(ratios.serverRatio),
  };
}
