import type { Arm } from "../../model/arm.ts";
import type { Cell } from "../../model/cell.ts";
import type { Interval } from "../../analysis/statistics/bootstrap.ts";
import { number, percent, size, withInterval } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import { meanText, SECONDS } from "../../analysis/loads/mean-text.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import type { Report } from "../../harness/experiment.ts";
import { variantTimes } from "../../analysis/charts/variant-times.ts";
import { windowLines } from "../../analysis/charts/window-lines.ts";
import { BASE, bbrOverH3, findingsOf, findWay, slowerShare, type Way, waysOf, windowsByLoad } from "./findings.ts";

/** Published (tcp-congestion): Oda, Yamaguchi, HTTP/2 over adjusted TCP congestion control. It tells findings, and no times. */
export const TCP_CONGESTION_SOURCE =
  "Oda and Yamaguchi, a page of 12 images of 2.5 MB over an RTT of 64 ms with a loss of 0.1 %";

/** What the run found: every way to load the page, and the published findings beside it. */
export function congestionSummary(recorded: LoadsRecorded) {
  const ways = waysOf(recorded, windowsByLoad(recorded));
  const base = recorded.experiment.cells.find(({ id }) => id === BASE);
  return {
    findings: findingsOf(ways),
    ways,
    // What the path holds in an RTT without a queue.
    pathBytes: base === undefined ? 0 : ((base.network.rateMbps * 1e6) / 8) * ((2 * base.network.delayMs) / 1_000),
    slowerShare: slowerShare(recorded, "beta-0.2"),
    bbrOverH3: bbrOverH3(recorded),
  };
}

export type CongestionSummary = ReturnType<typeof congestionSummary>;

/** Every way beside HTTP/2 with the kernel's own TCP: the report's tables and pictures. */
export function congestionReport(summary: CongestionSummary, recorded: LoadsRecorded): Report {
  const { findings, ways, pathBytes } = summary;
  const { cells } = recorded.experiment;
  const far = ways.filter((way) => cells.some(({ id, isTraced }) => id === way.cell && isTraced === true));
  const base = cells.find(({ id }) => id === BASE);
  const windows = windowsByLoad(recorded);
  const lines = far.flatMap(({ cell, arm, name }) => {
    const points = windows.get(`${cell}/${arm}`);
    return points === undefined ? [] : [{ name, points }];
  });
  return {
    values: {
      ...wayFigures(summary, (cell, arm) => findWay(ways, cell, arm)),
      source: TCP_CONGESTION_SOURCE,
      findings: findingsTable(findings),
      rttMs: number(2 * (base?.network.delayMs ?? 0)),
      loss: number((base?.network.lossRatio ?? 0) * 100),
      size: size(cells[0]?.imageBytes ?? 0),
      ways: waysTable(far),
      networks: networksTable(ways, cells),
    },
    pictures: [
      { file: "times.svg", spec: variantTimes(far.filter(({ group }) => group.n > 1)) },
      { file: "windows.svg", spec: windowLines(lines, pathBytes) },
    ],
  };
}

/** The figures that prose names, of a way: a cell and an arm, which is HTTP/2's unless given. */
export function wayFigures(
  { pathBytes, slowerShare: slower }: CongestionSummary,
  find: (cell: string, arm?: Arm) => Way | undefined,
) {
  return {
    meanS: (cell: string, arm?: Arm) => seconds(find(cell, arm)?.group.meanMs.estimate),
    medianS: (cell: string) => seconds(find(cell)?.group.medianMs.estimate),
    /** Of the first load, and its mean window. */
    firstS: (cell: string, arm?: Arm) => seconds(find(cell, arm)?.traced?.loadMs),
    windowKB: (cell: string, arm?: Arm) => number((find(cell, arm)?.traced?.meanWindowBytes ?? Number.NaN) / 1_000),
    ratio: (cell: string, arm?: Arm) => withInterval(find(cell, arm)?.ratio),
    times: (cell: string, arm?: Arm) => number(find(cell, arm)?.ratio?.estimate),
    droppedQueue: (cell: string, arm?: Arm) => number(find(cell, arm)?.droppedQueue),
    droppedLoss: (cell: string, arm?: Arm) => number(find(cell, arm)?.droppedLoss),
    pathKB: number(pathBytes / 1_000),
    slower: percent(slower),
  };
}

export function findingsTable(findings: CongestionSummary["findings"]): string {
  return tableOf(findings, [
    ["published", ({ published }) => published],
    ["as a ratio of mean times", ({ of }) => of],
    ["measured", ({ ratio }) => withInterval(ratio)],
    ["", ({ verdict }) => verdict],
  ]);
}

function waysTable(ways: readonly Way[]): string {
  return tableOf(ways, [
    ["", ({ name }) => name],
    ["n", ({ group }) => String(group.n)],
    ["timeouts", ({ group }) => String(group.timeouts)],
    ["mean s", ({ group }) => secondsInterval(group.meanMs)],
    ["median s", ({ group }) => seconds(group.medianMs.estimate)],
    ["sd s", ({ group }) => seconds(group.sdMs)],
    ["ratio", ({ ratio }) => (ratio === undefined ? "1" : withInterval(ratio))],
    ["dropped by loss", ({ droppedLoss }) => number(droppedLoss)],
    ["by the queue", ({ droppedQueue }) => number(droppedQueue)],
    ["first load: s", ({ traced }) => seconds(traced?.loadMs)],
    ["its mean window kB", ({ traced }) => number((traced?.meanWindowBytes ?? Number.NaN) / 1_000)],
    ["edge CPU ms", ({ group }) => number(group.edgeCpuMs)],
  ]);
}

function networksTable(ways: readonly Way[], cells: readonly Cell[]): string {
  const networks = cells.filter(({ id, congestion }) => congestion === "cubic" && findWay(ways, id, "fixed-h1"));
  const mean = (arm: Arm) => (cell: Cell) => meanText(findWay(ways, cell.id, arm)?.group, SECONDS);
  const ratio = (arm: Arm) => (cell: Cell) => withInterval(findWay(ways, cell.id, arm)?.ratio);
  return tableOf(networks, [
    [
      "RTT, loss, rate",
      ({ network: { rateMbps, delayMs, lossRatio } }) =>
        `${number(2 * delayMs)} ms, ${Number((lossRatio * 100).toFixed(2))} %, ${rateMbps} Mbit/s`,
    ],
    ["HTTP/2 s", mean("fixed-h2")],
    ["HTTP/1.1 on six s", mean("fixed-h1")],
    ["HTTP/3 s", mean("fixed-h3")],
    ["h2 / h1", ratio("fixed-h1")],
    ["h2 / h3", ratio("fixed-h3")],
  ]);
}

function seconds(ms: number | undefined): string {
  return number((ms ?? Number.NaN) / 1_000);
}

function secondsInterval({ estimate, low, high }: Interval): string {
  return withInterval({ estimate: estimate / 1_000, low: low / 1_000, high: high / 1_000 });
}
