import { type Proportion, proportion } from "../../analysis/statistics/proportion.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Direction } from "../../lab/path.ts";
import type { Packet } from "./packets.ts";
import type { FidelitySetting, Way } from "./settings.ts";
import { delayErrorsMs, lossesOf, rates, reorderedIn, type Stamps } from "./stamps.ts";

/** One line of the table. */
export type FidelityRow = ReturnType<typeof rowsOf>[number];

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
export function rowsOf(measurement: Measurement, family: number) {
  const { direction, setting } = measurement;
  const { asked, probe, ways } = setting;
  const load = probe.mode === "delay" && probe.loadMbps > 0 ? `, beside ${round(probe.loadMbps)} Mbit/s` : "";
  const spoiled = spoiledBy(measurement);
  const quantities = { delay: delays, rate: rate, loss: losses }[probe.mode](measurement, family);
  return quantities.map(({ ok = true, note = "", ...quantity }) => ({
    direction,
    setting: describe(asked) + load + (ways.length > 1 ? ", both ways at once" : ""),
    ...quantity,
    ok: ok && spoiled === "" && quantity.measured >= quantity.low && quantity.measured <= quantity.high,
    /** Of the bottleneck, where there is one. */
    rateMbps: asked.rateMbps,
    note: [spoiled, note].filter(Boolean).join("; "),
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
    ["", ({ ok, note }) => [ok ? "ok" : "MISSED", note].filter(Boolean).join("; ")],
  ]);
}

function delays({ setting: { asked }, packets, stamps }: Measurement): Quantity[] {
  const errorMs = delayErrorsMs(packets, stamps, asked);
  const { delayMs = 0, jitterMs = 0 } = asked;
  // A uniform variation has its first and 99th percentile at 98 % of its half width.
  const reach = 0.98 * jitterMs;
  const delay = (name: string, probability: number, wanted: number, tolerance: number): Quantity => ({
    quantity: `delay, ${name}`,
    unit: "ms",
    asked: wanted,
    measured: delayMs + errorMs(probability),
    low: wanted - tolerance,
    high: wanted + tolerance,
  });
  return [
    ...(jitterMs > 0 ? [delay("p1", 0.01, delayMs - reach, P99_TOLERANCE_MS)] : []),
    delay("median", 0.5, delayMs, MEDIAN_TOLERANCE_MS),
    delay("p99", 0.99, delayMs + reach, P99_TOLERANCE_MS),
  ];
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
  const interval = (confidence: number): Proportion => proportion(lost, n, confidence);
  const [own, all] = [interval(0.95), interval(1 - 0.05 / family)];
  const holds = ({ low, high }: Proportion): boolean => wanted >= low && wanted <= high;
  return [
    {
      quantity: "loss",
      unit: "%",
      asked: 100 * wanted,
      measured: (100 * lost) / n,
      low: 100 * all.low,
      high: 100 * all.high,
      ok: holds(all),
      note: `${holds(own) ? "in" : "not in"} its own 95 % interval, ${percent(own.low)} to ${percent(own.high)}`,
    },
  ];
}

function spoiledBy({ setting: { probe }, stamps, emulatorDrops }: Measurement): string {
  const { receiverDrops, clockStepNs, receivedNs } = stamps;
  const lost = lossesOf(stamps);
  const reordered = reorderedIn(stamps);
  return [
    receiverDrops > 0 && `the receiver's buffer dropped ${receiverDrops}`,
    clockStepNs !== 0 && `the clock stepped by ${round(clockStepNs / 1e6)} ms`,
    reordered > 0 && `${reordered} packets were reordered`,
    emulatorDrops > 0 && `netpath dropped ${emulatorDrops} by its own fault`,
    probe.mode === "delay" && lost > 0 && `${lost} packets were lost`,
    lost === receivedNs.length && "nothing arrived",
  ]
    .filter((reason) => reason !== false)
    .join("; ");
}

function describe({ rateMbps, delayMs = 0, jitterMs, lossRatio }: Direction): string {
  return [
    rateMbps !== undefined && `${rateMbps} Mbit/s`,
    `${delayMs} ms`,
    jitterMs !== undefined && `jitter ${jitterMs} ms`,
    lossRatio !== undefined && `loss ${round(100 * lossRatio)} %`,
  ]
    .filter((part) => part !== false)
    .join(", ");
}

function percent(ratio: number): string {
  return `${(100 * ratio).toFixed(2)} %`;
}

function round(value: number): number {
  return Number(value.toFixed(3));
}
