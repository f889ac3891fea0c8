import type { Arm } from "../../model/arm.ts";
import type { Cell } from "../../model/cell.ts";
import type { Interval } from "../../analysis/statistics/bootstrap.ts";
import { figuresTable } from "../../analysis/tables/figures-table.ts";
import { number, percent, size, withInterval } from "../../analysis/tables/format.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import type { Report } from "../../harness/experiment.ts";
import { variantTimes } from "../../analysis/charts/variant-times.ts";
import { windowLines } from "../../analysis/charts/window-lines.ts";
import {
  BASE,
  bbrOverH3,
  type Finding,
  findingsOf,
  findWay,
  nearLossyText,
  slowerShare,
  type Way,
  waysOf,
  windowsByLoad,
} from "./findings.ts";

/** Published (tcp-congestion): Oda, Yamaguchi, HTTP/2 over adjusted TCP congestion control. It tells findings, and no times. */
export const TCP_CONGESTION_SOURCE =
  "Oda and Yamaguchi, a page of 12 images of 2.5 MB over an RTT of 64 ms with a loss of 0.1 %";

/** What the run found: every way to load the page, and the published findings beside it. */
export function congestionSummary(recorded: LoadsRecorded) {
  const { name, experiment, command, starts, rows } = recorded;
  const ways = waysOf(recorded, windowsByLoad(recorded));
  const base = experiment.cells.find(({ id }) => id === BASE);
  return {
    experiment: name,
    command,
    starts,
    rows: rows.length,
    findings: findingsOf(ways),
    ways,
    // What the path holds in an RTT without a queue.
    pathBytes: base === undefined ? 0 : ((base.network.rateMbps * 1e6) / 8) * ((2 * base.network.delayMs) / 1_000),
    slowerShare: slowerShare(recorded, "beta-0.2"),
    bbrOverH3: bbrOverH3(recorded),
  };
}

/** Every way beside HTTP/2 with the kernel's own TCP: the report's tables and pictures. */
export function congestionReport(summary: ReturnType<typeof congestionSummary>, recorded: LoadsRecorded): Report {
  const { findings, ways, pathBytes } = summary;
  const { cells } = recorded.experiment;
  const far = ways.filter(({ cell }) => isFar(cells, cell));
  const base = cells.find(({ id }) => id === BASE);
  const lines = windowsByLoad(recorded);
  return {
    values: {
      source: TCP_CONGESTION_SOURCE,
      findings: findingsTable(findings),
      rttMs: number(2 * (base?.network.delayMs ?? 0)),
      loss: number((base?.network.lossRatio ?? 0) * 100),
      size: size(cells[0]?.imageBytes ?? 0),
      ways: waysTable(far),
      pathKB: number(pathBytes / 1_000),
      networks: networksTable(ways, cells),
      why: whyValues(ways, summary.slowerShare),
    },
    pictures: [
      { file: "times.svg", spec: variantTimes(far.filter(({ group }) => group.n > 1)) },
      {
        file: "windows.svg",
        spec: windowLines(
          far.flatMap(({ cell, arm, name }) => {
            const line = lines.get(`${cell}/${arm}`);
            return line === undefined ? [] : [{ name, points: line }];
          }),
          pathBytes,
        ),
      },
    ],
  };
}

function isFar(cells: readonly Cell[], id: string): boolean {
  return cells.some((cell) => cell.id === id && cell.isTraced === true);
}

function findingsTable(findings: readonly Finding[]): string {
  return figuresTable(
    ["published", "as a ratio", "measured", ""],
    findings.map(({ published, of, ratio, verdict: said }) => [
      published,
      of,
      ratio === undefined ? "-" : withInterval(ratio),
      said,
    ]),
  );
}

function waysTable(ways: readonly Way[]): string {
  return figuresTable(
    [
      "",
      "n",
      "timeouts",
      "mean s",
      "median s",
      "sd s",
      "ratio",
      "dropped by loss",
      "by the queue",
      "first load: s",
      "its mean window kB",
      "edge CPU ms",
    ],
    ways.map(({ name, group, ratio, droppedLoss, droppedQueue, traced }) => [
      name,
      String(group.n),
      String(group.timeouts),
      secondsInterval(group.meanMs),
      seconds(group.medianMs.estimate),
      seconds(group.sdMs),
      ratio === undefined ? "1" : withInterval(ratio),
      number(droppedLoss),
      number(droppedQueue),
      traced === undefined ? "-" : seconds(traced.loadMs),
      traced === undefined ? "-" : number(traced.meanWindowBytes / 1_000),
      number(group.edgeCpuMs),
    ]),
  );
}

function networksTable(ways: readonly Way[], cells: readonly Cell[]): string {
  const networks = cells.filter(({ id }) => ways.some((way) => way.cell === id && way.arm === "fixed-h1"));
  return figuresTable(
    ["RTT, loss, rate", "HTTP/2 s", "HTTP/1.1 on six s", "HTTP/3 s", "h2 / h1", "h2 / h3"],
    networks
      .filter(({ congestion }) => congestion === "cubic")
      .map(({ id, network: { rateMbps, delayMs, lossRatio } }) => {
        const [h2, h1, h3] = (["fixed-h2", "fixed-h1", "fixed-h3"] as const).map((arm) => findWay(ways, id, arm));
        return [
          `${number(2 * delayMs)} ms, ${Number((lossRatio * 100).toFixed(2))} %, ${rateMbps} Mbit/s`,
          ...[h2, h1, h3].map((way) => timeOf(way)),
          ...[h1, h3].map((way) => (way?.ratio === undefined ? "-" : withInterval(way.ratio))),
        ];
      }),
  );
}

function timeOf(way: Way | undefined): string {
  if (way === undefined) return "-";
  if (way.group.n < 2) return way.group.busyMeanMs === null ? "-" : `busy: ${seconds(way.group.busyMeanMs)}`;
  return seconds(way.group.meanMs.estimate);
}

function seconds(ms: number): string {
  return number(ms / 1_000);
}

function secondsInterval({ estimate, low, high }: Interval): string {
  return withInterval({ estimate: estimate / 1_000, low: low / 1_000, high: high / 1_000 });
}

/** The figures that the template's reasons name. */
function whyValues(ways: readonly Way[], slower: number) {
  const of = (cell: string, arm: Arm = "fixed-h2"): Way | undefined => findWay(ways, cell, arm);
  const kB = (cell: string, arm?: Arm): string =>
    number((of(cell, arm)?.traced?.meanWindowBytes ?? Number.NaN) / 1_000);
  const firstS = (cell: string, arm?: Arm): string => seconds(of(cell, arm)?.traced?.loadMs ?? Number.NaN);
  const withRatio = (cell: string, arm?: Arm): string => {
    const ratio = of(cell, arm)?.ratio;
    return ratio === undefined ? "-" : withInterval(ratio);
  };
  const median = (cell: string): string => seconds(of(cell)?.group.medianMs.estimate ?? Number.NaN);
  return {
    window: {
      h2: { kB: kB(BASE), s: firstS(BASE) },
      h1: { kB: kB(BASE, "fixed-h1"), s: firstS(BASE, "fixed-h1") },
      bbr: { kB: kB("bbr"), s: firstS("bbr") },
      h3: { kB: kB(BASE, "fixed-h3"), s: firstS(BASE, "fixed-h3") },
    },
    beta: {
      unfriendly3: withRatio("unfriendly-0.3"),
      unfriendly2: withRatio("unfriendly-0.2"),
      slower: percent(slower),
      lowMedian: median("beta-0.02"),
      bbrMedian: median("bbr"),
    },
    nearLossy: nearLossyText(ways),
    queue: {
      onSix: number(of("bbr", "fixed-h1")?.droppedQueue),
      onOne: number(of("bbr")?.droppedQueue),
      lossOnSix: number(of("bbr", "fixed-h1")?.droppedLoss),
      lossOnOne: number(of("bbr")?.droppedLoss),
    },
  };
}
