import type { Arm } from "../../model/arm.ts";
import type { Cell } from "../../model/cell.ts";
import { loadsOf } from "../../model/load-experiment.ts";
import { type Interval, ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";
import { loadId } from "../../harness/loads/schedule.ts";
import { withInterval } from "../../analysis/tables/format.ts";
import { type Group, groupsOf, isComparable, timesOf } from "../../analysis/loads/groups.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import type { WindowLine } from "../../analysis/charts/window-lines.ts";

const PROTOCOLS: Readonly<Partial<Record<Arm, string>>> = {
  "fixed-h1": "HTTP/1.1 on six",
  "fixed-h2": "HTTP/2",
  "fixed-h3": "HTTP/3",
};
/** The kernel's own TCP: what every other way stands beside. */
export const BASE = "beta-0.3";

export type Verdict = "holds" | "does not hold" | "not shown";

/** One published finding as a ratio, and what was measured of it. */
export interface Finding {
  readonly published: string;
  /** What the ratio is of. */
  readonly of: string;
  readonly ratio: Interval | undefined;
  readonly verdict: Verdict;
}

/** One way to load the page: a protocol over what its server's transport does. */
export interface Way {
  readonly cell: string;
  readonly arm: Arm;
  readonly name: string;
  readonly rateMbps: number;
  readonly group: Group;
  /** HTTP/2's mean with the kernel's own cubic over this one's, on the same network: above 1 this is faster. */
  readonly ratio: Interval | undefined;
  /** Packets a load that the emulated path dropped: by its random loss, and as its queue was full. */
  readonly droppedLoss: number;
  readonly droppedQueue: number;
  /** The first load alone; undefined where it was not traced. */
  readonly traced: { readonly loadMs: number; readonly meanWindowBytes: number } | undefined;
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

/** Every way of every place, beside HTTP/2 with the kernel's own TCP on the same network. */
export function waysOf(
  { experiment, rows, seed }: LoadsRecorded,
  lines: ReadonlyMap<string, WindowLine["points"]>,
): readonly Way[] {
  const groups = groupsOf(experiment, rows, seed);
  return experiment.cells.flatMap((cell) =>
    loadsOf(experiment, cell).flatMap(({ arm, flow }): Way[] => {
      const group = groups.find((one) => one.cell === cell.id && one.arm === arm);
      if (group === undefined) return [];
      const beside = cell.isTraced === true ? BASE : cell.id;
      const both = [
        [beside, "fixed-h2"],
        [cell.id, arm],
      ] as const;
      const isSame = beside === cell.id && arm === "fixed-h2";
      const isRatio = !isSame && both.every(([id, one]) => isComparable(rows, id, one, flow));
      const line = lines.get(`${cell.id}/${arm}`);
      return [
        {
          cell: cell.id,
          arm,
          name: arm === "fixed-h3" ? "HTTP/3" : `${PROTOCOLS[arm] ?? arm}, ${tcpText(cell)}`,
          rateMbps: cell.network.rateMbps,
          group,
          ratio: isRatio
            ? ratioOfMeansInterval(timesOf(rows, beside, "fixed-h2", flow), timesOf(rows, cell.id, arm, flow), {
                random: seededRandom(seed, "way", cell.id, arm),
              })
            : undefined,
          ...droppedOf(rows.filter((row) => row.cell === cell.id && row.arm === arm && counts(row))),
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

function droppedOf(rows: readonly LoadRow[]): Pick<Way, "droppedLoss" | "droppedQueue"> {
  const meanOf = (field: "droppedLoss" | "droppedQueue"): number =>
    rows.length === 0 ? 0 : mean(rows.map((row) => row[field] ?? 0));
  return { droppedLoss: meanOf("droppedLoss"), droppedQueue: meanOf("droppedQueue") };
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

export function findWay(ways: readonly Way[], cell: string, arm: Arm): Way | undefined {
  return ways.find((way) => way.cell === cell && way.arm === arm);
}

/** What was published, each as a ratio, with what was measured of it. */
export function findingsOf(ways: readonly Way[]): Finding[] {
  const of = (cell: string, arm: Arm): Interval | undefined => findWay(ways, cell, arm)?.ratio;
  const finding = (
    published: string,
    what: string,
    ratio: Interval | undefined,
    expected: "above" | "below" | "equal",
  ): Finding => ({ published, of: what, ratio, verdict: verdict(ratio, expected) });
  const betas = ways.filter(({ cell, arm }) => cell.startsWith("beta-") && cell !== BASE && arm === "fixed-h2");
  const windows = ways.filter(({ cell }) => cell.startsWith("window-"));
  const h1 = "HTTP/2's time over HTTP/1.1's on six connections";
  return [
    ...["near-clean", "far-clean"].map((cell) =>
      finding("HTTP/2 on one connection matches HTTP/1.1 on several", `${h1}, ${cell}`, of(cell, "fixed-h1"), "equal"),
    ),
    ...nearLossy(ways).map(({ cell, rateMbps, ratio }) =>
      finding(
        "HTTP/2 on one connection matches HTTP/1.1 on several",
        `${h1}, ${cell.startsWith("near-lossy-") ? `near-lossy at ${rateMbps} Mbit/s` : cell}`,
        ratio,
        "equal",
      ),
    ),
    finding("except at high latency with loss", `${h1}, far and lossy`, of(BASE, "fixed-h1"), "above"),
    ...windows.map(({ cell, name, ratio }) =>
      finding(
        "raising the window earlier shortens the load",
        `10 packets' time over ${name.split("from ")[1] ?? cell}'`,
        ratio,
        "above",
      ),
    ),
    ...betas.map(({ cell, ratio }) => {
      const beta = cell.replace("beta-", "");
      const isSlower = beta === "0.2";
      return finding(
        isSlower ? "beta 0.2 was slower than 0.3" : `beta ${beta} loads faster than 0.3`,
        `beta 0.3's time over ${beta}'s`,
        ratio,
        isSlower ? "below" : "above",
      );
    }),
  ];
}

/** HTTP/1.1's way near by with loss: at the bench's usual rate, and at lower ones. */
export function nearLossy(ways: readonly Way[]): Way[] {
  return ways.filter(({ cell, arm }) => cell.startsWith("near-lossy") && arm === "fixed-h1");
}

/** What the rate does near by, with loss: `1.21 (1.16 to 1.27) at 100 Mbit/s, ...`, and where the two are equal as published. */
export function nearLossyText(ways: readonly Way[]): string {
  const all = nearLossy(ways);
  if (all.length === 0) return "not measured";
  const equal = all.filter(({ ratio }) => verdict(ratio, "equal") === "holds");
  const ratios = all.map(
    ({ rateMbps, ratio }) => `${ratio === undefined ? "-" : withInterval(ratio)} at ${rateMbps} Mbit/s`,
  );
  return `${ratios.join(", ")}. ${
    equal.length === 0
      ? "At none of these rates are they shown to be equal"
      : `They are equal within 10 %, as published, at ${equal.map(({ rateMbps }) => `${rateMbps} Mbit/s`).join(" and ")}`
  }`;
}

/** Two times within this are equal. */
const EQUAL = 1.1;

/** Whether an interval of a ratio is on the side that was published, wholly. */
export function verdict(ratio: Interval | undefined, expected: "above" | "below" | "equal"): Verdict {
  if (ratio === undefined) return "not shown";
  const { low, high } = ratio;
  if (expected === "equal") {
    if (low > 1 / EQUAL && high < EQUAL) return "holds";
    return low > EQUAL || high < 1 / EQUAL ? "does not hold" : "not shown";
  }
  const [isAbove, isBelow] = [low > 1, high < 1];
  if (expected === "above" ? isAbove : isBelow) return "holds";
  return isAbove || isBelow ? "does not hold" : "not shown";
}

/** HTTP/3's mean over HTTP/2's with bbr, on the same network: how much faster the latter is. */
export function bbrOverH3({ rows, seed }: LoadsRecorded): Interval | undefined {
  const [h3, bbr] = [timesOf(rows, BASE, "fixed-h3", "trained"), timesOf(rows, "bbr", "fixed-h2", "trained")];
  return h3.length < 2 || bbr.length < 2
    ? undefined
    : ratioOfMeansInterval(h3, bbr, { random: seededRandom(seed, "bbr over h3") });
}

/** Of all pairs of a single load over HTTP/2 in a cell and one of the base's, those in which the cell's is slower. */
export function slowerShare({ rows }: LoadsRecorded, cell: string): number {
  const [own, base] = [cell, BASE].map((id) => timesOf(rows, id, "fixed-h2", "trained"));
  const pairs = (own ?? []).flatMap((ms) => (base ?? []).map((baseMs) => (ms > baseMs ? 1 : 0)));
  return pairs.length === 0 ? Number.NaN : mean(pairs);
}
