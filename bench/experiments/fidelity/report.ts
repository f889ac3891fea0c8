import { type Proportion, proportion } from "../../analysis/statistics/proportion.ts";
import { quantileOfSorted } from "../../analysis/statistics/summary.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Direction } from "../../lab/path.ts";

/** Data goes from b to a. */
export type Way = "aToB" | "bToA";

/** What is measured of one setting, and with how many packets or for how long. */
export type Probe =
  | { readonly mode: "rate"; readonly seconds: number }
  | { readonly mode: "delay"; readonly packets: number; readonly gapMs: number; readonly loadMbps: number }
  | { readonly mode: "loss"; readonly packets: number };

/** One setting of the path, and the probe that runs on it. */
export interface FidelitySetting {
  /** Several: at the same time. */
  readonly ways: readonly Way[];
  readonly asked: Direction;
  readonly probe: Probe;
}

/** A packet that pathprobe sends: when, in nanoseconds since the first, and of how many IP bytes. */
export interface Packet {
  readonly dueNs: number;
  readonly bytes: number;
  /** Whether its delay is measured; else it is load. */
  readonly isProbe: boolean;
}

/** What pathprobe prints (bench/instrument/netpath/cmd/pathprobe): of each packet, nanoseconds since the run began. */
export interface Stamps {
  readonly sentNs: readonly number[];
  /** -1: it did not arrive. */
  readonly receivedNs: readonly number[];
  /** Packets that the receiver's own socket had no room for. */
  readonly receiverDrops: number;
  readonly clockStepNs: number;
}

/** What a probe of one way saw. */
export interface Measurement {
  readonly setting: FidelitySetting;
  readonly direction: Way;
  readonly packets: readonly Packet[];
  readonly stamps: Stamps;
  /** Packets that netpath lost by its own fault meanwhile: it was too slow, or its memory full. */
  readonly emulatorDrops: number;
}

/** Rates up to this must hold on every machine that measures; above it they only find the machine's limit. */
export const MUST_HOLD_MBPS = 200;
const RATE_TOLERANCE = 0.03;
const MEDIAN_TOLERANCE_MS = 0.5;
const P99_TOLERANCE_MS = 1;
const FULL_PACKET_BYTES = 1_500;
/** After which a queue is full. */
const FILLS_MS = 200;

/** One line of the table. */
export type FidelityRow = ReturnType<typeof rowsOf>[number];

/** What was measured of one thing, between its bounds; `ok` is false where it cannot hold whatever it is. */
interface Quantity {
  readonly quantity: string;
  readonly unit: string;
  readonly asked: number;
  readonly measured: number;
  readonly low: number;
  readonly high: number;
  readonly ok?: boolean;
  readonly note?: string;
}

/** Compares what was measured with what was asked. @param family the number of loss intervals in the table */
export function rowsOf(whole: Measurement, family: number) {
  const measurement = whole.setting.asked.queue === undefined ? whole : probesOf(whole);
  const { direction, setting } = measurement;
  const { asked, probe, ways } = setting;
  const load = probe.mode === "delay" && probe.loadMbps > 0 ? `, beside ${round(probe.loadMbps)} Mbit/s` : "";
  const spoiled = spoiledBy(measurement);
  const quantities = { delay: delays, rate, loss: losses }[probe.mode](measurement, family);
  return quantities.map(({ ok = true, note = "", ...quantity }) => ({
    direction,
    setting: pathText(asked) + load + (ways.length > 1 ? ", both ways at once" : ""),
    ...quantity,
    ok: ok && spoiled === "" && quantity.measured >= quantity.low && quantity.measured <= quantity.high,
    /** Of the bottleneck, where there is one. */
    rateMbps: asked.rateMbps,
    note: joined("; ", [spoiled, note]),
    /** Whether the same was measured again after it: then it is shown, and decides nothing. */
    superseded: false,
  }));
}

/** `ok`: whether every row without a bottleneck, and every row up to MUST_HOLD_MBPS, is within its bound. */
export function verdictOf(rows: readonly FidelityRow[]): { ok: boolean; limitMbps: number } {
  const missed = rows.filter(({ ok, superseded }) => !ok && !superseded).map(({ rateMbps = 0 }) => rateMbps);
  const lowestMissed = Math.min(...missed, Number.POSITIVE_INFINITY);
  // The highest rate that holds, with all below it; 0 if a row without a bottleneck does not.
  const held = rows.map(({ rateMbps = 0 }) => rateMbps).filter((rateMbps) => rateMbps < lowestMissed);
  return { ok: lowestMissed > MUST_HOLD_MBPS, limitMbps: Math.max(0, ...held) };
}

export function fidelityTable(rows: readonly FidelityRow[]): string {
  const fixed = (value: number, { unit }: FidelityRow): string =>
    Number.isFinite(value) ? value.toFixed(unit === "ms" || unit === "%" ? 3 : 2) : "-";
  return tableOf(rows, [
    ["way", ({ direction }) => (direction === "aToB" ? "a->b" : "b->a")],
    ["path", ({ setting }) => setting],
    ["quantity", ({ quantity }) => quantity],
    ["asked", (row) => `${fixed(row.asked, row)} ${row.unit}`],
    ["measured", (row) => fixed(row.measured, row)],
    ["bound", (row) => `${fixed(row.low, row)} to ${fixed(row.high, row)}`],
    ["", ({ ok, note }) => joined("; ", [ok ? "ok" : "MISSED", note])],
  ]);
}

function delays({ setting: { asked }, packets, stamps }: Measurement): Quantity[] {
  const errorMs = delayErrorsMs(packets, stamps, asked);
  const { delayMs = 0, jitterMs = 0 } = asked;
  // A uniform variation has its first and 99th percentile at 98 % of its half width.
  const reach = 0.98 * jitterMs;
  // By turns: it waits for the packet that is being sent, and at most for one whose turn it is.
  const turnsMs = asked.queue === undefined ? 0 : (2 * gapNs(FULL_PACKET_BYTES, asked.rateMbps ?? 0)) / 1e6;
  const delay = (name: string, probability: number, wanted: number, tolerance: number): Quantity => ({
    quantity: `delay, ${name}`,
    unit: "ms",
    asked: wanted,
    measured: delayMs + errorMs(probability),
    low: wanted - tolerance,
    high: wanted + turnsMs + tolerance,
  });
  return [
    ...(jitterMs > 0 ? [delay("p1", 0.01, delayMs - reach, P99_TOLERANCE_MS)] : []),
    delay("median", 0.5, delayMs, MEDIAN_TOLERANCE_MS),
    delay("p99", 0.99, delayMs + reach, P99_TOLERANCE_MS),
  ];
}

/** Of packets of two flows those that are measured: the other flow's are to wait, and to be dropped. */
function probesOf(measurement: Measurement): Measurement {
  const { packets, stamps } = measurement;
  const isProbe = (_: unknown, i: number): boolean => packets[i]?.isProbe === true;
  const { sentNs, receivedNs } = stamps;
  return {
    ...measurement,
    packets: packets.filter(isProbe),
    stamps: { ...stamps, sentNs: sentNs.filter(isProbe), receivedNs: receivedNs.filter(isProbe) },
  };
}

function rate({ setting, packets, stamps }: Measurement): Quantity[] {
  const { rateMbps: asked = 0 } = setting.asked;
  const { rateMbps: measured, offeredMbps } = rates(packets, stamps, setting.asked);
  const [low, high] = [(1 - RATE_TOLERANCE) * asked, (1 + RATE_TOLERANCE) * asked];
  const isShort = offeredMbps < high;
  const note = isShort ? `the probe could send only ${Math.round(offeredMbps)} Mbit/s` : "";
  return [{ quantity: "rate", unit: "Mbit/s", asked, measured, low, high, ok: !isShort, note }];
}

/**
 * The asked loss must lie in the interval around the measured one. Of many 95 % intervals some miss by chance, so a
 * row fails by the interval that all rows together hold with 95 %, and the narrower one is noted.
 */
function losses({ setting: { asked }, stamps }: Measurement, family: number): Quantity[] {
  const { lossRatio: wanted = 0 } = asked;
  const lost = lossesOf(stamps);
  const n = stamps.receivedNs.length;
  const [own, all] = [proportion(lost, n), proportion(lost, n, 1 - 0.05 / family)];
  const holds = ({ low, high }: Proportion): boolean => wanted >= low && wanted <= high;
  const [measured, low, high] = [(100 * lost) / n, 100 * all.low, 100 * all.high];
  const note = `${holds(own) ? "in" : "not in"} its own 95 % interval, ${percent(own.low)} to ${percent(own.high)}`;
  return [{ quantity: "loss", unit: "%", asked: 100 * wanted, measured, low, high, ok: holds(all), note }];
}

function spoiledBy({ setting: { probe }, stamps, emulatorDrops }: Measurement): string {
  const { receiverDrops, clockStepNs, receivedNs } = stamps;
  const lost = lossesOf(stamps);
  const reordered = reorderedIn(stamps);
  return joined("; ", [
    receiverDrops > 0 && `the receiver's buffer dropped ${receiverDrops}`,
    clockStepNs !== 0 && `the clock stepped by ${round(clockStepNs / 1e6)} ms`,
    reordered > 0 && `${reordered} packets were reordered`,
    emulatorDrops > 0 && `netpath dropped ${emulatorDrops} by its own fault`,
    probe.mode === "delay" && lost > 0 && `${lost} packets were lost`,
    lost === receivedNs.length && "nothing arrived",
  ]);
}

function pathText({ rateMbps, delayMs = 0, jitterMs, lossRatio, queue }: Direction): string {
  return joined(", ", [
    rateMbps !== undefined && `${rateMbps} Mbit/s`,
    queue !== undefined && queue,
    `${delayMs} ms`,
    jitterMs !== undefined && `jitter ${jitterMs} ms`,
    lossRatio !== undefined && `loss ${round(100 * lossRatio)} %`,
  ]);
}

/** Those that are there. */
export function joined(by: string, parts: readonly (string | false)[]): string {
  return parts.filter(Boolean).join(by);
}

function percent(ratio: number): string {
  return `${(100 * ratio).toFixed(2)} %`;
}

function round(value: number): number {
  return Number(value.toFixed(3));
}

/** The time between packets of a size at a rate. */
export function gapNs(bytes: number, rateMbps: number): number {
  return (bytes * 8e3) / rateMbps;
}

/** Quantiles of how much later packets came than over a perfect path, milliseconds. */
export function delayErrorsMs(
  packets: readonly Packet[],
  { sentNs, receivedNs }: Stamps,
  asked: Direction,
): (probability: number) => number {
  const ideal = idealNs(packets, sentNs, asked);
  const errors = packets.flatMap(({ isProbe }, i) => {
    const received = receivedNs[i] ?? -1;
    return isProbe && received >= 0 ? [(received - (sentNs[i] ?? 0) - (ideal[i] ?? 0)) / 1e6] : [];
  });
  errors.sort((one, other) => one - other);
  return (probability) => quantileOfSorted(errors, probability);
}

/**
 * What each packet's one-way delay would be on a perfect path: its wait for the bottleneck (Lindley's recursion over the
 * times at which the packets were really sent), its own serialisation, the delay. Written apart from netpath's shaper, so
 * that a mistake there is not repeated here.
 */
export function idealNs(
  packets: readonly Packet[],
  sentNs: readonly number[],
  { rateMbps, delayMs = 0 }: Direction,
): number[] {
  let freeNs = 0;
  return packets.map(({ bytes }, i) => {
    const sent = sentNs[i] ?? 0;
    freeNs = rateMbps === undefined ? sent : Math.max(sent, freeNs) + gapNs(bytes, rateMbps);
    return freeNs - sent + delayMs * 1e6;
  });
}

/** The rate of what arrived in the middle of the run (after the queue has filled, before the sender ends), and the sender's. */
export function rates(
  packets: readonly Packet[],
  { sentNs, receivedNs }: Stamps,
  { delayMs = 0 }: Direction,
): { rateMbps: number; offeredMbps: number } {
  const [first = 0, last = 0] = [sentNs[0], sentNs.at(-1)];
  const fromNs = first + (FILLS_MS + delayMs) * 1e6;
  const arrived = packets
    .map(({ bytes }, i) => ({ bytes, atNs: receivedNs[i] ?? -1 }))
    .filter(({ atNs }) => atNs >= fromNs && atNs <= last);
  const bytesOf = (some: readonly { readonly bytes: number }[]): number =>
    some.reduce((sum, { bytes }) => sum + bytes, 0);
  const spanNs = (arrived.at(-1)?.atNs ?? 0) - (arrived[0]?.atNs ?? 0);
  return {
    // The first one's bytes were sent before its stamp.
    rateMbps: spanNs > 0 ? (bytesOf(arrived.slice(1)) * 8e3) / spanNs : 0,
    offeredMbps: (bytesOf(packets) * 8e3) / (last - first),
  };
}

/** How many packets were lost. */
export function lossesOf({ receivedNs }: Stamps): number {
  return receivedNs.filter((atNs) => atNs < 0).length;
}

/** Packets that came after one that was sent later. */
export function reorderedIn({ receivedNs }: Stamps): number {
  let latest = -1;
  return receivedNs.filter((atNs) => {
    const isEarly = atNs >= 0 && atNs < latest;
    latest = Math.max(latest, atNs);
    return isEarly;
  }).length;
}
