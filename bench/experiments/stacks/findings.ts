import type { Cell } from "../../model/cell.ts";
import { loadsOf } from "../../model/load-experiment.ts";
import type { Congestion } from "../../model/congestion.ts";
import { type Interval, ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { type Crossover, crossover } from "../../analysis/statistics/crossover.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { figuresTable } from "../../analysis/tables/figures-table.ts";
import { FAR_RATIO, number, percent, withInterval } from "../../analysis/tables/format.ts";
import { type Group, groupsOf, isComparable, timesOf } from "../../analysis/loads/groups.ts";
import { ratioSeries } from "../../analysis/charts/ratio-series.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import type { Report } from "../../harness/experiment.ts";
import { lastMachine } from "../../harness/machine-text.ts";
import type { Start } from "../../model/recorded-run.ts";

/** What HTTP/3 is served by: the arms that stand beside HTTP/2. */
export const STACKS = ["fixed-h3", "quiche-cubic", "quiche-bbr2"] as const;

export type Stack = (typeof STACKS)[number];

export const STACK_NAMES: Readonly<Record<Stack, string>> = {
  "fixed-h3": "quic-go",
  "quiche-cubic": "quiche cubic",
  "quiche-bbr2": "quiche bbr2",
};

/** HTTP/2 over one TCP beside HTTP/3 by one stack, in one network. */
export interface StackCell {
  readonly network: string;
  readonly delayMs: number;
  readonly lossPercent: number;
  readonly congestion: Congestion;
  readonly stack: Stack;
  readonly h2: Group | undefined;
  readonly h3: Group | undefined;
  /** HTTP/2's mean over HTTP/3's: above 1 HTTP/3 is faster. */
  readonly ratio: Interval | undefined;
}

/** The loss at which both are equally fast, percent, at one delay. */
export interface StackZero {
  readonly congestion: Congestion;
  readonly stack: Stack;
  readonly delayMs: number;
  readonly zero: Crossover;
  /** Which is faster at the highest loss. */
  readonly beyond: "HTTP/2" | "HTTP/3";
  /** How often the faster one changes between the losses that were measured. */
  readonly changes: number;
}

/** What the run found: every TCP beside every stack, and where each pair is equally fast. */
export interface StacksSummary {
  readonly experiment: string;
  readonly command: string;
  readonly starts: readonly Start[];
  readonly rows: number;
  readonly cells: readonly StackCell[];
  readonly zeros: readonly StackZero[];
}

export function stacksSummary(recorded: LoadsRecorded): StacksSummary {
  const { name, rows, starts, command } = recorded;
  const cells = stackCells(recorded);
  return { experiment: name, command, starts, rows: rows.length, cells, zeros: stackZeros(recorded, cells) };
}

export function stacksReport({ cells, zeros, starts }: StacksSummary): Report {
  const congestions = [...new Set(cells.map(({ congestion }) => congestion))];
  return {
    values: {
      quiche: lastMachine(starts).quiche ?? "of unknown version",
      congestions: congestions.map((congestion) => ({ congestion, table: stacksTable(cells, congestion) })),
      zeros: zerosTable(zeros),
      moved: movedText(cells),
      groups: groupsTable(cells, congestions[0]),
    },
    pictures: congestions.map((congestion) => ({
      file: `ratio-${congestion}.svg`,
      spec: pictureOf(cells, congestion),
    })),
  };
}

/** Every TCP beside every stack: a stack's loads are made once, and stand beside each TCP. */
function stackCells(input: LoadsRecorded): StackCell[] {
  const { experiment, rows, seed } = input;
  const groups = groupsOf(experiment, rows, seed);
  const find = (cell: Cell | undefined, arm: Group["arm"]): Group | undefined =>
    groups.find((one) => one.cell === cell?.id && one.arm === arm);
  return experiment.cells.flatMap((cell) =>
    STACKS.flatMap((stack): StackCell[] => {
      const beside = cellWith(experiment.cells, cell, stack, input);
      if (beside === undefined) return [];
      const isRatio =
        isComparable(rows, cell.id, "fixed-h2", "download") && isComparable(rows, beside.id, stack, "download");
      return [
        {
          network: cell.network.name,
          delayMs: cell.network.delayMs,
          lossPercent: Number((cell.network.lossRatio * 100).toFixed(6)),
          congestion: cell.congestion,
          stack,
          h2: find(cell, "fixed-h2"),
          h3: find(beside, stack),
          ratio: isRatio
            ? ratioOfMeansInterval(
                timesOf(rows, cell.id, "fixed-h2", "download"),
                timesOf(rows, beside.id, stack, "download"),
                { random: seededRandom(seed, "stack", cell.id, stack) },
              )
            : undefined,
        },
      ];
    }),
  );
}

/** The cell of the same network in which a stack's loads were made. */
function cellWith(
  cells: readonly Cell[],
  { network }: Cell,
  stack: Stack,
  { experiment }: LoadsRecorded,
): Cell | undefined {
  return cells.find(
    (cell) => cell.network.name === network.name && loadsOf(experiment, cell).some(({ arm }) => arm === stack),
  );
}

function stackZeros(input: LoadsRecorded, cells: readonly StackCell[]): StackZero[] {
  const { experiment, rows, seed } = input;
  const keys = cells
    .map(({ congestion, stack, delayMs }) => ({ congestion, stack, delayMs }))
    .filter(
      (key, index, all) =>
        all.findIndex(
          (one) => one.congestion === key.congestion && one.stack === key.stack && one.delayMs === key.delayMs,
        ) === index,
    );
  return keys.flatMap(({ congestion, stack, delayMs }): StackZero[] => {
    const own = cells
      .filter(
        (cell) =>
          cell.congestion === congestion &&
          cell.stack === stack &&
          cell.delayMs === delayMs &&
          cell.ratio !== undefined,
      )
      .toSorted((one, other) => one.lossPercent - other.lossPercent);
    if (own.length < 2) return [];
    const places = own.map(({ network, lossPercent }) => {
      const h2 = experiment.cells.find((cell) => cell.network.name === network && cell.congestion === congestion);
      const h3 = h2 === undefined ? undefined : cellWith(experiment.cells, h2, stack, input);
      return {
        x: lossPercent,
        a: timesOf(rows, h2?.id ?? "", "fixed-h2", "download"),
        b: timesOf(rows, h3?.id ?? "", stack, "download"),
      };
    });
    const zero = crossover(places, seededRandom(seed, "zero", congestion, stack, delayMs));
    const isH3 = own.map(({ ratio }) => (ratio?.estimate ?? 1) > 1);
    const changes = isH3.filter((is, index) => index > 0 && is !== isH3[index - 1]).length;
    return [{ congestion, stack, delayMs, zero, beyond: isH3.at(-1) === true ? "HTTP/3" : "HTTP/2", changes }];
  });
}

function pictureOf(cells: readonly StackCell[], congestion: Congestion) {
  const own = cells.filter((cell) => cell.congestion === congestion);
  return ratioSeries(
    own.flatMap((cell) =>
      cell.ratio === undefined
        ? []
        : [
            {
              label: labelOf(cell),
              of: STACK_NAMES[cell.stack],
              ratio: cell.ratio.estimate,
              low: Math.max(cell.ratio.low, cell.ratio.estimate / FAR_RATIO),
              high: Math.min(cell.ratio.high, cell.ratio.estimate * FAR_RATIO),
            },
          ],
    ),
    {
      title: `Three QUIC senders beside HTTP/2 with ${congestion}`,
      axis: "loss (%), delay one way (ms)",
      labels: [...new Set(own.map((cell) => labelOf(cell)))],
      of: "server's QUIC",
    },
  );
}

function labelOf({ lossPercent, delayMs }: StackCell): string {
  return `${lossPercent}, ${delayMs}`;
}

function stacksTable(cells: readonly StackCell[], congestion: Congestion): string {
  const own = cells.filter((cell) => cell.congestion === congestion);
  return figuresTable(
    ["loss, delay", "h2 ms", ...STACKS.flatMap((stack) => [`${STACK_NAMES[stack]}: h3 ms`, "h2 / h3"])],
    [...new Set(own.map(({ network }) => network))].map((network) => {
      const first = own.find((cell) => cell.network === network);
      return [
        first === undefined ? network : `${first.lossPercent} %, ${first.delayMs} ms`,
        timeOf(first?.h2),
        ...STACKS.flatMap((stack) => {
          const cell = own.find((one) => one.network === network && one.stack === stack);
          return [timeOf(cell?.h3), cell?.ratio === undefined ? "-" : withInterval(cell.ratio)];
        }),
      ];
    }),
  );
}

function timeOf(group: Group | undefined): string {
  if (group === undefined) return "-";
  if (group.n < 2) return group.busyMeanMs === null ? "-" : `busy: ${number(group.busyMeanMs)}`;
  return number(group.meanMs.estimate);
}

function zerosTable(zeros: readonly StackZero[]): string {
  const keys = zeros.filter(
    ({ congestion, delayMs }, index) =>
      zeros.findIndex((one) => one.congestion === congestion && one.delayMs === delayMs) === index,
  );
  return figuresTable(
    ["TCP, delay", ...STACKS.map((stack) => STACK_NAMES[stack])],
    keys.map(({ congestion, delayMs }) => [
      `${congestion}, ${delayMs} ms`,
      ...STACKS.map((stack) => {
        const found = zeros.find(
          (one) => one.congestion === congestion && one.delayMs === delayMs && one.stack === stack,
        );
        return found === undefined ? "-" : zeroText(found);
      }),
    ]),
  );
}

export function zeroText({ zero: { x, interval }, beyond, changes }: StackZero): string {
  if (changes === 0 || x === undefined) return `${beyond} everywhere`;
  if (changes > 1) return "changes twice";
  if (number(x) === number(0)) return `equal at 0 %, then ${beyond}`;
  return `${beyond} from ${number(x)} %${interval === undefined ? "" : ` (${number(interval[0])} to ${number(interval[1])})`}`;
}

/** In how many networks each stack changes which protocol is faster, beyond its interval. */
export function movedBy(
  cells: readonly StackCell[],
  stack: Stack,
  congestion: Congestion,
): { moved: number; of: number } {
  const side = (ratio: Interval | undefined): number =>
    ratio === undefined ? 0 : ratio.low > 1 ? 1 : ratio.high < 1 ? -1 : 0;
  const baseOf = (cell: StackCell): Interval | undefined =>
    cells.find((one) => one.congestion === congestion && one.network === cell.network && one.stack === "fixed-h3")
      ?.ratio;
  const own = cells.filter(
    (cell) =>
      cell.congestion === congestion && cell.stack === stack && cell.ratio !== undefined && baseOf(cell) !== undefined,
  );
  const moved = own.filter((cell) => side(cell.ratio) * side(baseOf(cell)) === -1);
  return { moved: moved.length, of: own.length };
}

function movedText(cells: readonly StackCell[]): string {
  const congestions = [...new Set(cells.map(({ congestion }) => congestion))];
  const lines = (["quiche-cubic", "quiche-bbr2"] as const).flatMap((stack) =>
    congestions.map((congestion) => {
      const { moved, of } = movedBy(cells, stack, congestion);
      return `${STACK_NAMES[stack]} ${moved} of ${of} with ${congestion}`;
    }),
  );
  return lines.join(", ");
}

function groupsTable(cells: readonly StackCell[], congestion: Congestion | undefined): string {
  return figuresTable(
    [
      "loss, delay",
      "QUIC",
      "n",
      "left out: busy",
      "mean ms",
      "median ms",
      "sd ms",
      "handshake ms",
      "packets lost, of sent",
      "RTT ms",
      "server CPU ms",
    ],
    cells
      .filter((cell) => cell.congestion === congestion)
      .flatMap(({ lossPercent, delayMs, stack, h3 }) =>
        h3 === undefined
          ? []
          : [
              [
                `${lossPercent} %, ${delayMs} ms`,
                STACK_NAMES[stack],
                String(h3.n),
                String(h3.droppedBusy),
                h3.n < 2 ? "-" : withInterval(h3.meanMs),
                number(h3.medianMs.estimate),
                number(h3.sdMs),
                number(h3.handshakeMs),
                percent(h3.quic.lossRatio),
                number(h3.quic.rttMs),
                number(h3.edgeCpuMs),
              ],
            ],
      ),
  );
}
