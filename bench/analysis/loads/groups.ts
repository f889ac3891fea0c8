import type { Arm } from "../../model/arm.ts";
import type { Cell } from "../../model/cell.ts";
import { type LoadExperiment, loadsOf } from "../../model/load-experiment.ts";
import type { Flow } from "../../model/flow.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";
import { type Interval, meanInterval, medianInterval } from "../statistics/bootstrap.ts";
import { type Proportion, proportion } from "../statistics/proportion.ts";
import { seededRandom } from "../statistics/random.ts";
import { mean, sd } from "../statistics/summary.ts";

/** Fewer loads than this say little: no ratio, no regret, no interval is made of them. */
export const FEW = 5;

/** A share of loads left out for a busy core from which on those that count are the slow ones: fast loads keep cores busy. */
const MOSTLY = 0.3;

export function isMostlyBusy(rows: readonly LoadRow[]): boolean {
  return rows.filter(({ dropped }) => dropped === "busy").length > MOSTLY * rows.length;
}

/** Whether an arm's loads of a flow may be compared with another's: there are enough, and not only the slow ones. */
export function isComparable(rows: readonly LoadRow[], cell: string, arm: Arm, flow: Flow): boolean {
  const own = rows.filter((row) => row.cell === cell && row.arm === arm && row.flow === flow);
  return own.filter((row) => counts(row)).length >= FEW && !isMostlyBusy(own);
}

/** What the sender measured, over the loads of a group; null where no connection of the transport was. */
export interface MeasuredMeans {
  readonly rttMs: number | null;
  readonly minRttMs: number | null;
  /** Packets declared lost of packets sent, over all loads. */
  readonly lossRatio: number | null;
  readonly deliveryRateBps: number | null;
  /** A load. */
  readonly packetsLost: number | null;
}

/** All loads of one arm and flow in one cell. Times in milliseconds; intervals of 95 %. */
export interface Group {
  readonly cell: string;
  readonly congestion: string;
  readonly arm: Arm;
  readonly flow: Flow;
  readonly imageBytes: number;
  /** Loads that count. */
  readonly n: number;
  readonly failures: number;
  readonly timeouts: number;
  /** Loads left out as a core was busy, or the path late. */
  readonly droppedBusy: number;
  readonly droppedLate: number;
  /** Loads left out as the emulated path lost packets by its own fault. */
  readonly droppedFault: number;
  /** Of the loads left out as a core was busy: what this machine could do, where too few loads count. */
  readonly busyMeanMs: number | null;
  readonly meanMs: Interval;
  readonly medianMs: Interval;
  readonly sdMs: number;
  /** Loads whose last file came over HTTP/3. */
  readonly http3: Proportion;
  readonly handshakeMs: number | null;
  readonly switchHandshakeMs: number | null;
  readonly ttfbMs: number | null;
  readonly edgeCpuMs: number | null;
  readonly clientCpuMs: number | null;
  readonly tcp: MeasuredMeans;
  readonly quic: MeasuredMeans;
}

/** The rows of an experiment, one group for each cell, arm and flow that has any. */
export function groupsOf(experiment: LoadExperiment, rows: readonly LoadRow[], seed: number): Group[] {
  const byGroup = Map.groupBy(rows, ({ cell, arm, flow }) => `${cell}/${arm}/${flow}`);
  return experiment.cells.flatMap((cell) =>
    loadsOf(experiment, cell).flatMap(({ arm, flow }) => {
      const own = byGroup.get(`${cell.id}/${arm}/${flow}`);
      return own === undefined ? [] : [groupOf(cell, arm, flow, own, seed)];
    }),
  );
}

/** Load times of one arm and flow in one cell, in the order of their rounds. */
export function timesOf(rows: readonly LoadRow[], cell: string, arm: Arm, flow: Flow): number[] {
  return rows
    .filter((row) => row.cell === cell && row.arm === arm && row.flow === flow && counts(row))
    .toSorted((a, b) => a.round - b.round)
    .map(({ loadMs }) => loadMs ?? Number.NaN);
}

function groupOf(cell: Cell, arm: Arm, flow: Flow, rows: readonly LoadRow[], seed: number): Group {
  const good = rows.filter((row) => counts(row));
  const times = good.map(({ loadMs }) => loadMs ?? Number.NaN);
  const random = seededRandom(seed, "group", cell.id, arm, flow);
  return {
    cell: cell.id,
    congestion: cell.congestion,
    arm,
    flow,
    imageBytes: cell.imageBytes,
    n: good.length,
    failures: rows.filter(({ outcome, dropped }) => outcome === "failed" && dropped === "").length,
    timeouts: good.filter(({ outcome }) => outcome === "timeout").length,
    droppedBusy: rows.filter(({ dropped }) => dropped === "busy").length,
    droppedLate: rows.filter(({ dropped }) => dropped === "late").length,
    droppedFault: rows.filter(({ dropped }) => dropped === "fault").length,
    busyMeanMs: meanOf(
      rows.filter(({ dropped, outcome }) => dropped === "busy" && outcome === "ok"),
      "loadMs",
    ),
    meanMs: meanInterval(times, { random }),
    medianMs: medianInterval(times, { random }),
    sdMs: sd(times),
    http3: proportion(good.filter(({ lastProtocol }) => lastProtocol === "h3").length, good.length),
    handshakeMs: meanOf(good, "handshakeMs"),
    switchHandshakeMs: meanOf(good, "switchHandshakeMs"),
    ttfbMs: meanOf(good, "ttfbMs"),
    edgeCpuMs: meanOf(good, "edgeCpuMs"),
    clientCpuMs: meanOf(good, "clientCpuMs"),
    tcp: measured(good, "tcp"),
    quic: measured(good, "quic"),
  };
}

function measured(rows: readonly LoadRow[], transport: "tcp" | "quic"): MeasuredMeans {
  const sent = sumOf(rows, `${transport}PacketsSent`);
  const lost = sumOf(rows, `${transport}PacketsLost`);
  return {
    rttMs: meanOf(rows, `${transport}RttMs`),
    minRttMs: meanOf(rows, `${transport}MinRttMs`),
    lossRatio: sent > 0 ? lost / sent : null,
    deliveryRateBps: meanOf(rows, `${transport}DeliveryRateBps`),
    packetsLost: meanOf(rows, `${transport}PacketsLost`),
  };
}

type NumberColumn = { [K in keyof LoadRow]: LoadRow[K] extends number | null ? K : never }[keyof LoadRow];

function meanOf(rows: readonly LoadRow[], column: NumberColumn): number | null {
  const values = rows.flatMap((row) => row[column] ?? []);
  return values.length === 0 ? null : mean(values);
}

function sumOf(rows: readonly LoadRow[], column: NumberColumn): number {
  return rows.reduce((sum, row) => sum + (row[column] ?? 0), 0);
}
