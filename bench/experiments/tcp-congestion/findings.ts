import type { Arm } from "../../model/arm.ts";
import type { Cell } from "../../model/cell.ts";
import { loadsOf } from "../../model/load-experiment.ts";
import { ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import { equalVerdict, sideVerdict, type Verdict } from "../../analysis/statistics/verdict.ts";
import { counts } from "../../model/load-row.ts";
import { loadId } from "../../harness/loads/schedule.ts";
import { groupsOf, timesOf } from "../../analysis/loads/groups.ts";
import { ratioOfLoads } from "../../analysis/loads/ratio.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import type { WindowLine } from "../../analysis/charts/window-lines.ts";

const PROTOCOLS: Readonly<Partial<Record<Arm, string>>> = {
  "fixed-h1": "HTTP/1.1 on six",
  "fixed-h2": "HTTP/2",
  "fixed-h3": "HTTP/3",
};
/** The kernel's own TCP: what every other way stands beside. */
export const BASE = "beta-0.3";

/** One way to load the page: a protocol over what its server's transport does. */
export type Way = ReturnType<typeof waysOf>[number];

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

/** Every way of every place, beside HTTP/2 with the kernel's own TCP on the same network. */
export function waysOf({ experiment, rows, seed }: LoadsRecorded, lines: ReadonlyMap<string, WindowLine["points"]>) {
  const groups = groupsOf(experiment, rows, seed);
  return experiment.cells.flatMap((cell) =>
    loadsOf(experiment, cell).flatMap(({ arm, flow }) => {
      const group = groups.find((one) => one.cell === cell.id && one.arm === arm);
      if (group === undefined) return [];
      const base = { cell: cell.isTraced === true ? BASE : cell.id, arm: "fixed-h2", flow } as const;
      const own = rows.filter((row) => row.cell === cell.id && row.arm === arm && counts(row));
      const dropped = (field: "droppedLoss" | "droppedQueue"): number =>
        own.length === 0 ? 0 : mean(own.map((row) => row[field] ?? 0));
      const line = lines.get(`${cell.id}/${arm}`);
      return [
        {
          cell: cell.id,
          arm,
          name: arm === "fixed-h3" ? "HTTP/3" : `${PROTOCOLS[arm] ?? arm}, ${tcpText(cell)}`,
          rateMbps: cell.network.rateMbps,
          group,
          /** HTTP/2's mean with the kernel's own cubic over this one's, on the same network: above 1 this is faster. */
          ratio:
            base.cell === cell.id && base.arm === arm
              ? undefined
              : ratioOfLoads(rows, base, group, seededRandom(seed, "way", cell.id, arm)),
          /** Packets a load that the emulated path dropped: by its random loss, and as its queue was full. */
          droppedLoss: dropped("droppedLoss"),
          droppedQueue: dropped("droppedQueue"),
          /** The first load alone; undefined where it was not traced. */
          traced:
            line === undefined
              ? undefined
              : {
                  loadMs: rows.find(({ id }) => id === loadId(cell, arm, flow, 0))?.loadMs ?? Number.NaN,
                  meanWindowBytes: mean(line.map(({ windowBytes }) => windowBytes)),
                },
        },
      ];
    }),
  );
}

/** By cell and arm, of all connections of the load together. */
export function windowsByLoad({ experiment, rows, windows }: LoadsRecorded): Map<string, WindowLine["points"]> {
  const ends = new Map(rows.map(({ id, loadMs }) => [id, loadMs ?? 0]));
  const byLoad = Map.groupBy(
    windows.filter(({ id, atMs }) => atMs <= (ends.get(id) ?? 0)),
    ({ id }) => id,
  );
  return new Map(
    experiment.cells.flatMap((cell) =>
      loadsOf(experiment, cell).flatMap(({ arm, flow }) => {
        const points = byLoad.get(loadId(cell, arm, flow, 0));
        if (points === undefined) return [];
        const line = [...Map.groupBy(points, ({ atMs }) => atMs)].map(([atMs, own]) => ({
          atMs,
          windowBytes: own.reduce((sum, { windowBytes }) => sum + windowBytes, 0),
        }));
        return [[`${cell.id}/${arm}`, line] as const];
      }),
    ),
  );
}

export function findWay(ways: readonly Way[], cell: string, arm: Arm = "fixed-h2"): Way | undefined {
  return ways.find((way) => way.cell === cell && way.arm === arm);
}

/** A published finding, the ways that it is about, what their ratios are of, and what the figures say of each. */
interface Claim {
  readonly published: string;
  readonly isOf: (way: Way) => boolean;
  readonly of: (way: Way) => string;
  readonly verdict: (ratio: Way["ratio"]) => Verdict;
}

const ON_SIX = "HTTP/2's time over HTTP/1.1's on six connections";

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
    verdict: (ratio) => sideVerdict(ratio, "above"),
  },
  {
    published: "raising the window earlier shortens the load",
    isOf: ({ cell }) => cell.startsWith("window-"),
    of: ({ name }) => `10 packets' time over ${name.split("from ")[1]}'`,
    verdict: (ratio) => sideVerdict(ratio, "above"),
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
    verdict: (ratio) => sideVerdict(ratio, "above"),
  },
];

/** What was published, each as a ratio, with what was measured of it. */
export function findingsOf(ways: readonly Way[]) {
  return CLAIMS.flatMap(({ published, isOf, of, verdict }) =>
    ways.filter(isOf).map((way) => ({ published, of: of(way), ratio: way.ratio, verdict: verdict(way.ratio) })),
  );
}

/** HTTP/3's mean over HTTP/2's with bbr, on the same network: how much faster the latter is. */
export function bbrOverH3({ rows, seed }: LoadsRecorded) {
  const [h3, bbr] = [timesOf(rows, BASE, "fixed-h3", "trained"), timesOf(rows, "bbr", "fixed-h2", "trained")];
  return ratioOfMeansInterval(h3, bbr, { random: seededRandom(seed, "bbr over h3") });
}

/** Of all pairs of a single load over HTTP/2 in a cell and one of the base's, those in which the cell's is slower. */
export function slowerShare({ rows }: LoadsRecorded, cell: string): number {
  const base = timesOf(rows, BASE, "fixed-h2", "trained");
  return mean(timesOf(rows, cell, "fixed-h2", "trained").flatMap((ms) => base.map((baseMs) => Number(ms > baseMs))));
}
