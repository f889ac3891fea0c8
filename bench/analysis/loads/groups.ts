import type { Arm } from "../../model/arm.ts";
import type { Cell } from "../../model/cell.ts";
import { type LoadExperiment, loadsOf } from "../../model/load-experiment.ts";
import type { Flow } from "../../model/flow.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";
import { meanInterval, medianInterval } from "../statistics/bootstrap.ts";
import { proportion } from "../statistics/proportion.ts";
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

/** All loads of one arm and flow in one cell. Times in milliseconds; intervals of 95 %. */
export type Group = Readonly<ReturnType<typeof groupOf>>;

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

function groupOf(cell: Cell, arm: Arm, flow: Flow, rows: readonly LoadRow[], seed: number) {
  const good = rows.filter((row) => counts(row));
  const times = good.map(({ loadMs }) => loadMs ?? Number.NaN);
  const random = seededRandom(seed, "group", cell.id, arm, flow);
  const droppedFor = (reason: LoadRow["dropped"]): LoadRow[] => rows.filter(({ dropped }) => dropped === reason);
  return {
    cell: cell.id,
    congestion: cell.congestion,
    arm,
    flow,
    imageBytes: cell.imageBytes,
    /** Loads that count. */
    n: good.length,
    failures: droppedFor("").filter(({ outcome }) => outcome === "failed").length,
    timeouts: good.filter(({ outcome }) => outcome === "timeout").length,
    /** Loads left out as a core was busy, the path late, or as the emulated path lost packets by its own fault. */
    droppedBusy: droppedFor("busy").length,
    droppedLate: droppedFor("late").length,
    droppedFault: droppedFor("fault").length,
    /** Of the loads left out as a core was busy: what this machine could do, where too few loads count. */
    busyMeanMs: meanOf(
      droppedFor("busy").filter(({ outcome }) => outcome === "ok"),
      "loadMs",
    ),
    meanMs: meanInterval(times, { random }),
    medianMs: medianInterval(times, { random }),
    sdMs: sd(times),
    /** Loads whose last file came over HTTP/3. */
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

/** What the sender measured, over the loads of a group; null where no connection of the transport was. */
function measured(rows: readonly LoadRow[], transport: "tcp" | "quic") {
  const sent = sumOf(rows, `${transport}PacketsSent`);
  return {
    rttMs: meanOf(rows, `${transport}RttMs`),
    minRttMs: meanOf(rows, `${transport}MinRttMs`),
    /** Packets declared lost of packets sent, over all loads. */
    lossRatio: sent > 0 ? sumOf(rows, `${transport}PacketsLost`) / sent : null,
    deliveryRateBps: meanOf(rows, `${transport}DeliveryRateBps`),
    /** A load. */
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
