import type { Congestion } from "../../model/congestion.ts";
import type { Interval } from "../../analysis/statistics/bootstrap.ts";
import { crossover } from "../../analysis/statistics/crossover.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { number, percent, withInterval } from "../../analysis/tables/format.ts";
import { type Column, tableOf } from "../../analysis/tables/table-of.ts";
import { type Group, groupsOf, timesOf } from "../../analysis/loads/groups.ts";
import { meanText } from "../../analysis/loads/series-cells.ts";
import { ratioOfLoads, ratioPoint } from "../../analysis/loads/ratio.ts";
import { ratioSeries } from "../../analysis/charts/ratio-series.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import type { Report } from "../../harness/experiment.ts";
import { lastMachine } from "../../harness/machine.ts";

/** What HTTP/3 is served by: the arms that stand beside HTTP/2. */
const STACK_NAMES = {
  "fixed-h3": "quic-go",
  "quiche-cubic": "quiche cubic",
  "quiche-bbr2": "quiche bbr2",
} as const;

type Stack = keyof typeof STACK_NAMES;

export const STACKS = Object.keys(STACK_NAMES) as Stack[];

type StackCell = ReturnType<typeof stackCells>[number];

export type StackZero = ReturnType<typeof stackZeros>[number];

/** What the run found: every TCP beside every stack, and where each pair is equally fast. */
export function stacksSummary(recorded: LoadsRecorded) {
  const cells = stackCells(recorded);
  return { cells, zeros: stackZeros(recorded, cells) };
}

export function stacksReport({ cells, zeros }: ReturnType<typeof stacksSummary>, { starts }: LoadsRecorded): Report {
  const byCongestion = [...Map.groupBy(cells, ({ congestion }) => congestion)];
  return {
    values: {
      quiche: lastMachine(starts).quiche ?? "of unknown version",
      congestions: byCongestion.map(([congestion, own]) => ({ congestion, table: stacksTable(own) })),
      zeros: zerosTable(zeros),
      movedByCubic: movedText(cells, "quiche-cubic"),
      movedByBbr2: movedText(cells, "quiche-bbr2"),
      groups: groupsTable(byCongestion[0]?.[1] ?? []),
    },
    pictures: byCongestion.map(([congestion, own]) => ({
      file: `ratio-${congestion}.svg`,
      spec: pictureOf(own, congestion),
    })),
  };
}

/** Every TCP beside every stack, in each network: a stack's loads are made once, and stand beside each TCP. */
function stackCells({ experiment, rows, seed }: LoadsRecorded) {
  const groups = groupsOf(experiment, rows, seed);
  return experiment.cells.flatMap(({ id, congestion, network: { name, delayMs, lossRatio } }) =>
    STACKS.map((stack) => {
      const h2 = groups.find(({ cell, arm }) => cell === id && arm === "fixed-h2");
      const h3 = groups.find(({ cell, arm }) => cell.startsWith(`${name}-`) && arm === stack);
      return {
        network: name,
        delayMs,
        lossPercent: Number((lossRatio * 100).toFixed(6)),
        congestion,
        stack,
        h2,
        h3,
        /** HTTP/2's mean over HTTP/3's: above 1 HTTP/3 is faster. */
        ratio: ratioOfLoads(rows, h2, h3, seededRandom(seed, "stack", id, stack)),
      };
    }),
  );
}

/** The loss at which both are equally fast, percent, at each delay. */
function stackZeros({ rows, seed }: LoadsRecorded, cells: readonly StackCell[]) {
  const known = cells.filter(({ ratio }) => ratio !== undefined);
  const byLine = Map.groupBy(known, ({ congestion, stack, delayMs }) => `${congestion} ${stack} ${delayMs}`);
  return [...byLine.values()].flatMap((line) => {
    const own = line.toSorted((one, other) => one.lossPercent - other.lossPercent);
    const [first, second] = own;
    if (first === undefined || second === undefined) return [];
    const { congestion, stack, delayMs } = first;
    const timesIn = (of: Group | undefined): number[] => (of ? timesOf(rows, of.cell, of.arm, of.flow) : []);
    const places = own.map(({ lossPercent, h2, h3 }) => ({ x: lossPercent, a: timesIn(h2), b: timesIn(h3) }));
    const zero = crossover(places, seededRandom(seed, "zero", congestion, stack, delayMs));
    const isH3 = own.map(({ ratio }) => (ratio?.estimate ?? 1) > 1);
    return [
      {
        congestion,
        stack,
        delayMs,
        zero,
        /** Which is faster at the highest loss. */
        beyond: isH3.at(-1) === true ? "HTTP/3" : "HTTP/2",
        /** How often the faster one changes between the losses that were measured. */
        changes: isH3.filter((is, index) => index > 0 && is !== isH3[index - 1]).length,
      },
    ];
  });
}

function pictureOf(cells: readonly StackCell[], congestion: Congestion) {
  const labelOf = ({ lossPercent, delayMs }: StackCell): string => `${lossPercent}, ${delayMs}`;
  return ratioSeries(
    cells.flatMap((cell) => {
      const { ratio } = cell;
      return ratio === undefined ? [] : [{ label: labelOf(cell), of: STACK_NAMES[cell.stack], ...ratioPoint(ratio) }];
    }),
    {
      title: `Three QUIC senders beside HTTP/2 with ${congestion}`,
      axis: "loss (%), delay one way (ms)",
      labels: [...new Set(cells.map(labelOf))],
      of: "server's QUIC",
    },
  );
}

function placeText({ lossPercent, delayMs }: StackCell): string {
  return `${lossPercent} %, ${delayMs} ms`;
}

/** A row for each network, beside one TCP. */
function stacksTable(cells: readonly StackCell[]): string {
  return tableOf(
    [...Map.groupBy(cells, placeText)],
    [
      ["loss, delay", ([place]) => place],
      ["h2 ms", ([, own]) => meanText(own[0]?.h2)],
      ...STACKS.flatMap((stack): Column<[string, StackCell[]]>[] => {
        const at = (own: readonly StackCell[]) => own.find((cell) => cell.stack === stack);
        return [
          [`${STACK_NAMES[stack]}: h3 ms`, ([, own]) => meanText(at(own)?.h3)],
          ["h2 / h3", ([, own]) => withInterval(at(own)?.ratio)],
        ];
      }),
    ],
  );
}

/** A row for each TCP and delay, a column for each stack. */
function zerosTable(zeros: readonly StackZero[]): string {
  const byPlace = Map.groupBy(zeros, ({ congestion, delayMs }) => `${congestion}, ${delayMs} ms`);
  return tableOf(
    [...byPlace],
    [
      ["TCP, delay", ([place]) => place],
      ...STACKS.map((stack): Column<[string, StackZero[]]> => [
        STACK_NAMES[stack],
        ([, own]) => {
          const zero = own.find((one) => one.stack === stack);
          return zero === undefined ? "-" : zeroText(zero);
        },
      ]),
    ],
  );
}

function zeroText({ zero: { x, interval }, beyond, changes }: StackZero): string {
  if (changes === 0 || x === undefined) return `${beyond} everywhere`;
  if (changes > 1) return "changes twice";
  if (number(x) === number(0)) return `equal at 0 %, then ${beyond}`;
  return `${beyond} from ${number(x)} %${interval === undefined ? "" : ` (${number(interval[0])} to ${number(interval[1])})`}`;
}

/** In how many networks a stack has another protocol be the faster one than quic-go has, beyond both intervals. */
export function movedBy(cells: readonly StackCell[], stack: Stack, congestion: Congestion) {
  const beside = cells.filter((cell) => cell.congestion === congestion);
  const pairs = beside.flatMap(({ network, ratio, ...cell }): [Interval, Interval][] => {
    const base = beside.find((one) => one.network === network && one.stack === "fixed-h3")?.ratio;
    return cell.stack !== stack || ratio === undefined || base === undefined ? [] : [[ratio, base]];
  });
  const moved = pairs.filter(([one, base]) => (one.low > 1 && base.high < 1) || (one.high < 1 && base.low > 1));
  return { moved: moved.length, of: pairs.length };
}

/** `6 of 9 beside cubic, 2 of 9 beside bbr` */
function movedText(cells: readonly StackCell[], stack: Stack): string {
  return [...new Set(cells.map(({ congestion }) => congestion))]
    .map((congestion) => {
      const { moved, of } = movedBy(cells, stack, congestion);
      return `${moved} of ${of} beside ${congestion}`;
    })
    .join(", ");
}

function groupsTable(cells: readonly StackCell[]): string {
  const groups = cells.flatMap((cell) => (cell.h3 === undefined ? [] : [{ ...cell.h3, of: cell }]));
  return tableOf(groups, [
    ["loss, delay", ({ of }) => placeText(of)],
    ["QUIC", ({ of }) => STACK_NAMES[of.stack]],
    ["n", ({ n }) => String(n)],
    ["left out: busy", ({ droppedBusy }) => String(droppedBusy)],
    ["mean ms", ({ n, meanMs }) => (n < 2 ? "-" : withInterval(meanMs))],
    ["median ms", ({ medianMs }) => number(medianMs.estimate)],
    ["sd ms", ({ sdMs }) => number(sdMs)],
    ["handshake ms", ({ handshakeMs }) => number(handshakeMs)],
    ["packets lost, of sent", ({ quic }) => percent(quic.lossRatio)],
    ["RTT ms", ({ quic }) => number(quic.rttMs)],
    ["server CPU ms", ({ edgeCpuMs }) => number(edgeCpuMs)],
  ]);
}
