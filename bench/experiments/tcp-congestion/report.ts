import type { Arm } from "../../model/arm.ts";
import type { Cell } from "../../model/cell.ts";
import type { Interval } from "../../analysis/statistics/bootstrap.ts";
import { renderSvg } from "../../analysis/charts/chart.ts";
import { figuresTable } from "../../analysis/tables/figures-table.ts";
import { number, percent, size, withInterval } from "../../analysis/tables/format.ts";
import { reportHead } from "../../harness/loads/head.ts";
import type { Report, ReportInput } from "../../harness/loads/report.ts";
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
} from "./ways.ts";

/** Published (tcp-congestion): Oda, Yamaguchi, HTTP/2 over adjusted TCP congestion control. It tells findings, and no times. */
export const TCP_CONGESTION_SOURCE =
  "Oda and Yamaguchi, a page of 12 images of 2.5 MB over an RTT of 64 ms with a loss of 0.1 %";

/** Twelve images over what TCP does with its window: every way beside HTTP/2 with the kernel's own. */
export async function tcpCongestionReport(input: ReportInput): Promise<Report> {
  const { experiment, rows, starts, command } = input;
  const lines = windowsByLoad(input);
  const ways = waysOf(input, lines);
  const findings = findingsOf(ways);
  const far = ways.filter(({ cell }) => isFar(experiment.cells, cell));
  const bytes = experiment.cells[0] === undefined ? 0 : experiment.cells[0].imageBytes;
  const base = experiment.cells.find(({ id }) => id === BASE);
  const pathBytes = base === undefined ? 0 : ((base.network.rateMbps * 1e6) / 8) * ((2 * base.network.delayMs) / 1_000);
  const markdown = `${reportHead(input)}

## Published beside measured

Published (${TCP_CONGESTION_SOURCE}): no times, but findings. Each is a ratio of mean load times here. "Holds": the whole 95 % interval
is on its side, or within 10 % where two are said to be equal.

${findingsTable(findings)}

## Every way at ${number(2 * (base?.network.delayMs ?? 0))} ms and ${number((base?.network.lossRatio ?? 0) * 100)} % loss

A page of 12 images of ${size(bytes)}. The ratio is HTTP/2's mean with Linux' own cubic over this one's: above 1 this is faster.
Packets dropped are those of a load, by the path's random loss and as its queue was full, which is the sender's own doing.

![Mean load time of each way, with 95 % intervals](times.svg)

${waysTable(far)}

## The congestion window over time

The first load of each, as the sender had it 20 times a second. The dashed line is what the path holds in an RTT without a queue,
${number(pathBytes / 1_000)} kB: below it the path is not full.

![Congestion windows over time](windows.svg)

## Near and far, clean and lossy

${networksTable(ways, experiment.cells)}

## What makes the difference

${whyText(ways, slowerShare(input, "beta-0.2"))}
`;
  return {
    summary: {
      experiment: experiment.name,
      command,
      starts,
      rows: rows.length,
      findings,
      ways,
      pathBytes,
      slowerShare: slowerShare(input, "beta-0.2"),
      bbrOverH3: bbrOverH3(input),
    },
    markdown,
    pictures: [
      { file: "times.svg", svg: await renderSvg(variantTimes(far.filter(({ group }) => group.n > 1))) },
      {
        file: "windows.svg",
        svg: await renderSvg(
          windowLines(
            far.flatMap(({ cell, arm, name }) => {
              const line = lines.get(`${cell}/${arm}`);
              return line === undefined ? [] : [{ name, points: line }];
            }),
            pathBytes,
          ),
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

function whyText(ways: readonly Way[], slower: number): string {
  const of = (cell: string, arm: Arm = "fixed-h2"): Way | undefined => findWay(ways, cell, arm);
  const kB = (cell: string, arm?: Arm): string =>
    number((of(cell, arm)?.traced?.meanWindowBytes ?? Number.NaN) / 1_000);
  const first = (cell: string, arm?: Arm): string => seconds(of(cell, arm)?.traced?.loadMs ?? Number.NaN);
  const withRatio = (cell: string, arm?: Arm): string => {
    const ratio = of(cell, arm)?.ratio;
    return ratio === undefined ? "-" : withInterval(ratio);
  };
  const median = (cell: string): string => seconds(of(cell)?.group.medianMs.estimate ?? Number.NaN);
  return `- One connection's window. In the first loads HTTP/2 with cubic has a window of ${kB(BASE)} kB on average and takes ${first(BASE)} s; six connections of
  HTTP/1.1 have ${kB(BASE, "fixed-h1")} kB together and take ${first(BASE, "fixed-h1")}; HTTP/2 with bbr, which does not take loss for a full queue, ${kB("bbr")} kB and ${first("bbr")}; HTTP/3
  (quic-go, Reno-like) ${kB(BASE, "fixed-h3")} kB and ${first(BASE, "fixed-h3")}.
- CUBIC's beta, where it is published that 0.2 is slower than 0.3. Set while the kernel runs, as here, it changes what a loss takes, but
  not the growth that keeps CUBIC fair to Reno (RFC 9438, section 4.3): Linux works that out once, of the beta of its start. Without
  that growth, which is the nearest that can be tried here to a growth that falls with beta, HTTP/2 is ${withRatio("unfriendly-0.3")} times as fast at
  beta 0.3 and ${withRatio("unfriendly-0.2")} at 0.2, both against 0.3 with it. Where these intervals overlap it is neither shown nor ruled out that the
  growth is why 0.2 was slower. Chance may have been enough: of all pairs of single loads here ${percent(slower)} have beta 0.2 slower than 0.3.
- Beta 0.02: the median is ${median("beta-0.02")} s, near bbr's ${median("bbr")}, and a few loads take several times that; hence its wide interval. Why was not looked
  into.
- Near by, with loss, where the two were published as equal and the rate is not told: HTTP/2's time over HTTP/1.1's on six is
  ${nearLossyText(ways)}. A lower rate leaves
  a single connection more time to fill the line between two losses; no window was traced there.
- The first window. A route's \`initcwnd\` is what TCP may send at once; the client's receive window, 64 kB at its start, lets it only
  after some round trips, and the first losses then take it back.
- bbr fills the queue: ${number(of("bbr", "fixed-h1")?.droppedQueue)} packets a load overflow it on six connections, ${number(of("bbr")?.droppedQueue)} on one, where loss takes ${number(of("bbr", "fixed-h1")?.droppedLoss)} and ${number(of("bbr")?.droppedLoss)}. What
  each way takes from other traffic was not measured.`;
}
