import type { Values } from "../analysis/tables/template.ts";
import {
  movedBy,
  type Stack,
  STACK_NAMES,
  type StackCell,
  STACKS,
  type StackZero,
  zeroText,
} from "../experiments/stacks/findings.ts";
import { figuresTable } from "../analysis/tables/figures-table.ts";
import { number, withInterval } from "../analysis/tables/format.ts";

/** Of summary.json, what the page shows of stacks. */
export interface RecordedStacks {
  readonly command: string;
  readonly cells: readonly StackCell[];
  readonly zeros: readonly StackZero[];
}

export function stacksValues({ command, cells, zeros }: RecordedStacks): Values {
  const congestions = [...new Set(cells.map(({ congestion }) => congestion))];
  const moved = (stack: Stack): string =>
    congestions
      .map((congestion) => {
        const { moved: count, of } = movedBy(cells, stack, congestion);
        return `${count} of ${of} beside ${congestion}`;
      })
      .join(", ");
  const range = (stack: Stack, congestion: string): string => {
    const ratios = cells.flatMap((cell) =>
      cell.stack === stack &&
      cell.congestion === congestion &&
      cell.lossPercent > 0 &&
      cell.delayMs > 0 &&
      cell.ratio !== undefined
        ? [cell.ratio.estimate]
        : [],
    );
    return `${number(Math.min(...ratios))} to ${number(Math.max(...ratios))}`;
  };
  const rows = congestions.flatMap((congestion) =>
    [...new Set(cells.map(({ network }) => network))].map((network) => {
      const own = cells.filter((cell) => cell.network === network && cell.congestion === congestion);
      const [first] = own;
      return [
        `${congestion}: ${first?.lossPercent} %, ${first?.delayMs} ms`,
        ...STACKS.map((stack) => {
          const found = own.find((cell) => cell.stack === stack)?.ratio;
          return found === undefined ? "-" : withInterval(found);
        }),
      ];
    }),
  );
  const keys = zeros.filter(
    ({ congestion, delayMs }, index) =>
      zeros.findIndex((one) => one.congestion === congestion && one.delayMs === delayMs) === index,
  );
  const zeroRows = keys.map(({ congestion, delayMs }) => [
    `${congestion}, ${delayMs} ms`,
    ...STACKS.map((stack) => {
      const found = zeros.find(
        (one) => one.congestion === congestion && one.delayMs === delayMs && one.stack === stack,
      );
      return found === undefined ? "-" : zeroText(found);
    }),
  ]);
  const names = STACKS.map((stack) => STACK_NAMES[stack]);
  return {
    ratios: figuresTable(["TCP: loss, delay", ...names], rows),
    zeros: figuresTable(["TCP, delay", ...names], zeroRows),
    command: command,
    movedByCubic: moved("quiche-cubic"),
    movedByBbr2: moved("quiche-bbr2"),
    quicGo: range("fixed-h3", "cubic"),
    quicheCubic: range("quiche-cubic", "cubic"),
    quicheBbr2: range("quiche-bbr2", "cubic"),
    quicGoWithBbr: range("fixed-h3", "bbr"),
    quicheCubicWithBbr: range("quiche-cubic", "bbr"),
    quicheBbr2WithBbr: range("quiche-bbr2", "bbr"),
  };
}
