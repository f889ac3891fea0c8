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

export function stacksSection({ command, cells, zeros }: RecordedStacks): string {
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
  return `## Another QUIC: quiche beside quic-go

The first question that the published evaluation leaves open: what of another stack? Cloudflare's quiche, with its cubic and its BBRv2, serves files of
1 MB in the nine networks beside quic-go. It answers by itself, without the worker and the origin that HTTP/2 and quic-go have behind them, so
that differences of a few ms, as without loss and delay, may be that. A single file of 1 MB, and no document before it: hence other ratios than
in the table of the nine networks above. h2 / h3, by the server's TCP, loss and delay one way:

![HTTP/2's mean load time over HTTP/3's with three QUIC senders, TCP with bbr](../bench/results/stacks/ratio-bbr.svg)

${figuresTable(["TCP: loss, delay", ...names], rows)}

Which protocol is faster, and from which loss on, by delay: by the means at 0, 2.5 and 5 %, with a straight line between them, so that what lies
below 2.5 % is a rough guide; "everywhere" is at all three, whatever the interval:

${figuresTable(["TCP, delay", ...names], zeroRows)}

\`${command}\`; the [report](../bench/results/stacks/report.md) has all figures.

- **How far the zero lines move**: networks in which the other protocol wins than with quic-go, beyond the intervals: quiche with cubic ${moved("quiche-cubic")};
  with BBRv2 ${moved("quiche-bbr2")}.
- With loss and delay h2 / h3 beside TCP with cubic is ${range("fixed-h3", "cubic")} with quic-go, ${range("quiche-cubic", "cubic")} with quiche's cubic, ${range("quiche-bbr2", "cubic")} with its BBRv2; beside bbr ${range("fixed-h3", "bbr")}, ${range("quiche-cubic", "bbr")}
  and ${range("quiche-bbr2", "bbr")}.
- **For an operator**: what changes the winner is QUIC's congestion control, as TCP's does. Take a policy that was calibrated with the one
  that serves.`;
}
