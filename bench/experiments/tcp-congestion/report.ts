import { windowLines } from "../../analysis/charts/window-lines.ts";
import { groupsOf, timesOf } from "../../analysis/loads/groups.ts";
import { ratioOfLoads } from "../../analysis/loads/ratio.ts";
import { ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import { equalVerdict, sideVerdict, type Verdict } from "../../analysis/statistics/verdict.ts";
import { number, size, withInterval } from "../../analysis/tables/format.ts";
import { type Column, tableOf } from "../../analysis/tables/table-of.ts";
import type { Report } from "../../harness/experiment.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import { loadId } from "../../harness/loads/schedule.ts";
import type { Arm } from "../../model/arm.ts";
import type { Cell } from "../../model/cell.ts";
import { loadsOf } from "../../model/load-experiment.ts";
import { counts } from "../../model/load-row.ts";

/** Published (tcp-congestion): Oda, Yamaguchi, HTTP/2 over adjusted TCP congestion control. It tells findings, and no times. */
const SOURCE = "Oda and Yamaguchi, a page of 12 images of 2.5 MB over an RTT of 64 ms with a loss of 0.1 %";

const PROTOCOLS: Readonly<Partial<Record<Arm, string>>> = {
  "fixed-h1": "HTTP/1.1 on six",
  "fixed-h2": "HTTP/2",
  "fixed-h3": "HTTP/3",
};
/** The kernel's own TCP: what every other way stands beside. */
const BASE = "beta-0.3";

type CongestionSummary = ReturnType<typeof congestionSummary>;
/** One way to load the page: a protocol over what its server's transport does. */
type Way = ReturnType<typeof waysOf>[number];

/** What the run found: every way to load the page, and the published findings beside it. */
export function congestionSummary(recorded: LoadsRecorded) {
  const { experiment, rows, seed } = recorded;
  const ways = waysOf(recorded);
  const times = (cell: string, arm: Arm = "fixed-h2"): number[] => timesOf(rows, cell, arm, "trained");
  const { rateMbps = 0, delayMs = 0 } = experiment.cells.find(({ id }) => id === BASE)?.network ?? {};
  const base = times(BASE);
  return {
    findings: CLAIMS.flatMap(({ published, isOf, of, verdict }) =>
      ways.filter(isOf).map((way) => ({ published, of: of(way), ratio: way.ratio, verdict: verdict(way.ratio) })),
    ),
    ways,
    /** What the path holds in an RTT without a queue. */
    pathBytes: ((rateMbps * 1e6) / 8) * ((2 * delayMs) / 1_000),
    /** Of all pairs of a single load over HTTP/2 with beta 0.2 and one of the base's, those in which the former is slower. */
    slowerShare: mean(times("beta-0.2").flatMap((ms) => base.map((baseMs) => Number(ms > baseMs)))),
    /** HTTP/3's mean over HTTP/2's with bbr, on the same network: how much faster the latter is. */
    bbrOverH3: ratioOfMeansInterval(times(BASE, "fixed-h3"), times("bbr"), {
      random: seededRandom(seed, "bbr over h3"),
    }),
  };
}

/** Every way of every place, beside HTTP/2 with the kernel's own TCP on the same network. */
function waysOf({ experiment, rows, windows, seed }: LoadsRecorded) {
  const groups = groupsOf(experiment, rows, seed);
  const lines = windowsByLoad({ rows, windows });
  return experiment.cells.flatMap((cell) =>
    loadsOf(experiment, cell).flatMap(({ arm, flow }) => {
      const group = groups.find((one) => one.cell === cell.id && one.arm === arm);
      if (group === undefined) return [];
      const base = { cell: cell.isTraced === true ? BASE : cell.id, arm: "fixed-h2", flow } as const;
      const isBase = base.cell === cell.id && base.arm === arm;
      const own = rows.filter((row) => row.cell === cell.id && row.arm === arm && counts(row));
      const dropped = (field: "droppedLoss" | "droppedQueue"): number =>
        own.length === 0 ? 0 : mean(own.map((row) => row[field] ?? 0));
      const first = loadId(cell, arm, flow, 0);
      const line = lines.get(first);
      return [
        {
          cell: cell.id,
          arm,
          name: arm === "fixed-h3" ? "HTTP/3" : `${PROTOCOLS[arm] ?? arm}, ${tcpText(cell)}`,
          rateMbps: cell.network.rateMbps,
          group,
          /** HTTP/2's mean with the kernel's own cubic over this one's, on the same network: above 1 this is faster. */
          ratio: isBase ? undefined : ratioOfLoads(rows, base, group, seededRandom(seed, "way", cell.id, arm)),
          /** Packets a load that the emulated path dropped: by its random loss, and as its queue was full. */
          droppedLoss: dropped("droppedLoss"),
          droppedQueue: dropped("droppedQueue"),
          /** The first load alone; undefined where it was not traced. */
          traced: line && {
            loadMs: rows.find(({ id }) => id === first)?.loadMs ?? Number.NaN,
            meanWindowBytes: mean(line.map(({ windowBytes }) => windowBytes)),
          },
        },
      ];
    }),
  );
}

/** What a cell asks of TCP, in words. */
function tcpText({ congestion, tcp = {} }: Cell): string {
  const { cubic: { beta, isFriendly = true } = {}, initialWindow } = tcp;
  return [
    congestion,
    ...(beta === undefined ? [] : [`beta ${beta}`]),
    ...(isFriendly ? [] : ["not fair to Reno"]),
    ...(initialWindow === undefined ? [] : [`from ${initialWindow.toLocaleString("en-US")} packets`]),
  ].join(", ");
}

/** Of each load that was traced, until its end, of all its connections together. */
function windowsByLoad({ rows, windows }: Pick<LoadsRecorded, "rows" | "windows">) {
  const ends = new Map(rows.map(({ id, loadMs }) => [id, loadMs ?? 0]));
  const points = windows.filter(({ id, atMs }) => atMs <= (ends.get(id) ?? 0));
  const lines = [...Map.groupBy(points, ({ id }) => id)].map(([id, own]) => {
    const line = [...Map.groupBy(own, ({ atMs }) => atMs)].map(([atMs, at]) => ({
      atMs,
      windowBytes: at.reduce((sum, { windowBytes }) => sum + windowBytes, 0),
    }));
    return [id, line] as const;
  });
  return new Map(lines);
}

/** A published finding, the ways that it is about, what their ratios are of, and what the figures say of each. */
interface Claim {
  readonly published: string;
  readonly isOf: (way: Way) => boolean;
  readonly of: (way: Way) => string;
  readonly verdict: (ratio: Way["ratio"]) => Verdict;
}

const ON_SIX = "HTTP/2's time over HTTP/1.1's on six connections";
const isAbove: Claim["verdict"] = (ratio) => sideVerdict(ratio, "above");

const CLAIMS: readonly Claim[] = [
  {
    published: "HTTP/2 on one connection matches HTTP/1.1 on several",
    isOf: ({ cell, arm }) => arm === "fixed-h1" && /^(near|far)-/.test(cell),
    of: ({ cell, rateMbps }) => `${ON_SIX}, ${cell.replace(/-\d+$/, "")} at ${rateMbps} Mbit/s`,
    verdict: equalVerdict,
  },
  {
    published: "except at high latency with loss",
    isOf: ({ cell, arm }) => arm === "fixed-h1" && cell === BASE,
    of: () => `${ON_SIX}, far and lossy`,
    verdict: isAbove,
  },
  {
    published: "raising the window earlier shortens the load",
    isOf: ({ cell }) => cell.startsWith("window-"),
    of: ({ name }) => `10 packets' time over ${name.split("from ")[1]}'`,
    verdict: isAbove,
  },
  {
    published: "beta 0.2 was slower than 0.3",
    isOf: ({ cell }) => cell === "beta-0.2",
    of: () => "beta 0.3's time over 0.2's",
    verdict: (ratio) => sideVerdict(ratio, "below"),
  },
  {
    published: "a lower beta loads faster than 0.3",
    isOf: ({ cell }) => cell === "beta-0.1" || cell === "beta-0.02",
    of: ({ cell }) => `beta 0.3's time over ${cell.replace("beta-", "")}'s`,
    verdict: isAbove,
  },
];

/** Every way beside HTTP/2 with the kernel's own TCP: the report's tables and pictures. */
export function congestionReport(summary: CongestionSummary, recorded: LoadsRecorded): Report {
  const { findings, ways, pathBytes } = summary;
  const { cells } = recorded.experiment;
  const far = ways.filter((way) => cells.some(({ id, isTraced }) => id === way.cell && isTraced === true));
  const { delayMs = 0, lossRatio = 0 } = cells.find(({ id }) => id === BASE)?.network ?? {};
  const windows = windowsByLoad(recorded);
  const lines = far.flatMap(({ cell, arm, group, name }) => {
    const points = windows.get(`${cell}/${arm}/${group.flow}/0`);
    return points === undefined ? [] : [{ name, points }];
  });
  return {
    values: {
      pathKB: thousands(pathBytes),
      source: SOURCE,
      findings: tableOf(findings, [
        ["published", ({ published }) => published],
        ["as a ratio of mean times", ({ of }) => of],
        ["measured", ({ ratio }) => withInterval(ratio)],
        ["", ({ verdict }) => verdict],
      ]),
      rttMs: number(2 * delayMs),
      loss: number(lossRatio * 100),
      size: size(cells[0]?.imageBytes ?? 0),
      ways: waysTable(far),
      networks: waysTable(
        ways.filter((way) => !far.includes(way)),
        [["network", ({ cell }) => cell]],
      ),
    },
    pictures: [{ file: "windows.svg", spec: windowLines(lines, pathBytes) }],
  };
}

function waysTable(ways: readonly Way[], first: readonly Column<Way>[] = []): string {
  return tableOf(ways, [
    ...first,
    ["", ({ name }) => name],
    ["n", ({ group }) => String(group.n)],
    ["timeouts", ({ group }) => String(group.timeouts)],
    [
      "mean s",
      ({ group: { meanMs } }) =>
        withInterval({ estimate: meanMs.estimate / 1_000, low: meanMs.low / 1_000, high: meanMs.high / 1_000 }),
    ],
    ["median s", ({ group }) => thousands(group.medianMs.estimate)],
    ["sd s", ({ group }) => thousands(group.sdMs)],
    ["ratio", ({ ratio }) => (ratio === undefined ? "1" : withInterval(ratio))],
    ["dropped by loss", ({ droppedLoss }) => number(droppedLoss)],
    ["by the queue", ({ droppedQueue }) => number(droppedQueue)],
    ["first load: s", ({ traced }) => thousands(traced?.loadMs)],
    ["its mean window kB", ({ traced }) => thousands(traced?.meanWindowBytes)],
    ["edge CPU ms", ({ group }) => number(group.edgeCpuMs)],
  ]);
}

/** Milliseconds as seconds, bytes as kB. */
function thousands(value: number | undefined): string {
  return number((value ?? Number.NaN) / 1_000);
}
