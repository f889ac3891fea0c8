import type { Direction } from "../../lab/path.ts";
import type { FidelitySetting } from "./settings.ts";

/** What pathprobe prints, as far as it is used here. Milliseconds, Mbit/s of IP packets. */
export interface ProbeResult {
  readonly received: number;
  readonly sent: number;
  readonly reordered: number;
  readonly receiverDrops: number;
  readonly clockStepMs: number;
  /** Delay: measured less what a perfect path would give each packet (its delay, queue and serialisation). */
  readonly errorMs?: { readonly p1: number; readonly median: number; readonly p99: number };
  readonly rateMbps?: number;
  readonly offeredMbps?: number;
  readonly lossRatio?: number;
  readonly interval?: { readonly low: number; readonly high: number };
  readonly familyInterval?: { readonly low: number; readonly high: number };
  readonly bursts?: number;
  readonly meanBurstLength?: number;
}

export interface Measurement {
  readonly setting: FidelitySetting;
  readonly direction: "aToB" | "bToA";
  readonly result: ProbeResult;
  /** Packets that netpath lost by its own fault meanwhile: it was too slow, or its memory full. */
  readonly emulatorDrops: number;
  /** How much of all cores others used just before, when nothing was sent: a reason why a bound is missed. */
  readonly othersBusyRatio?: number;
  /** Whether the same was measured again after it: then it is shown, and decides nothing. */
  readonly superseded?: boolean;
}

/** One line of the table. */
export interface FidelityRow {
  readonly direction: "aToB" | "bToA";
  readonly setting: string;
  readonly quantity: string;
  readonly unit: string;
  readonly asked: number;
  readonly measured: number;
  readonly low: number;
  readonly high: number;
  readonly ok: boolean;
  /** The rate of the bottleneck, where there is one. */
  readonly rateMbps: number | undefined;
  readonly note: string;
}

export interface FidelityReport {
  /** Whether every row without a bottleneck, and every row up to MUST_HOLD_MBPS, is within its bound. */
  readonly ok: boolean;
  /** The highest rate that holds, with all below it; 0 if a row without a bottleneck does not. */
  readonly limitMbps: number;
  readonly rows: readonly FidelityRow[];
}

/** Rates up to this must hold on every machine that measures; above it they only find the machine's limit. */
export const MUST_HOLD_MBPS = 200;
const RATE_TOLERANCE = 0.03;
const MEDIAN_TOLERANCE_MS = 0.5;
const P99_TOLERANCE_MS = 1;
/** About 0.05 % of honest rows lie farther out. */
const STANDARD_ERRORS = 3.5;

/** Compares what was measured with what was asked. */
export function checkFidelity(measurements: readonly Measurement[]): FidelityReport {
  const rows = measurements.flatMap((measurement) => rowsOf(measurement).map((row) => explain(row, measurement)));
  const missed = measurements
    .filter(({ superseded = false }) => !superseded)
    .flatMap(rowsOf)
    .filter((row) => !row.ok)
    .map((row) => row.rateMbps ?? 0);
  const lowestMissed = Math.min(...missed, Number.POSITIVE_INFINITY);
  const held = rows.map((row) => row.rateMbps ?? 0).filter((rate) => rate < lowestMissed);
  return { ok: lowestMissed > MUST_HOLD_MBPS, limitMbps: Math.max(0, ...held), rows };
}

/** Whether a measurement has a row beyond its bound. */
export function misses(measurement: Measurement): boolean {
  return rowsOf(measurement).some((row) => !row.ok);
}

/** On a machine that is busy with something else, a missed bound says little of netpath. */
const NOTABLY_BUSY = 0.1;

function explain(row: FidelityRow, { othersBusyRatio = 0, superseded = false }: Measurement): FidelityRow {
  const reason =
    !row.ok && othersBusyRatio >= NOTABLY_BUSY
      ? `others used ${Math.round(100 * othersBusyRatio)} % of the cores just before`
      : "";
  return { ...row, note: [row.note, reason, superseded ? "measured again" : ""].filter(Boolean).join("; ") };
}

/** By how much losses in bursts make the variance of the loss ratio larger than independent losses would. */
export function lossDispersion({ burstLoss }: Direction): number {
  if (burstLoss === undefined) return 1;
  const { goodToBad, badToGood, lossGood, lossBad } = burstLoss;
  const bad = goodToBad / (goodToBad + badToGood);
  const mean = bad * lossBad + (1 - bad) * lossGood;
  const correlation = 1 - goodToBad - badToGood;
  const covariance = (bad * (1 - bad) * (lossBad - lossGood) ** 2 * correlation) / (1 - correlation);
  return Math.max(1, 1 + (2 * covariance) / (mean * (1 - mean)));
}

function rowsOf({ setting, direction, result, emulatorDrops }: Measurement): FidelityRow[] {
  const { asked, probe, bothWays } = setting;
  const load = probe.mode === "delay" && probe.loadMbps > 0 ? `, beside ${round(probe.loadMbps)} Mbit/s` : "";
  const spoiled = spoiledBy(setting, result, emulatorDrops);
  const row = (quantity: string, unit: string, wanted: number, measured: number, low: number, high: number) => ({
    direction,
    setting: describe(asked) + load + (bothWays ? ", both ways at once" : ""),
    quantity,
    unit,
    asked: wanted,
    measured,
    low,
    high,
    ok: spoiled === "" && measured >= low && measured <= high,
    rateMbps: asked.rateMbps,
    note: spoiled,
  });
  if (result.errorMs !== undefined) {
    const { p1, median, p99 } = result.errorMs;
    const { delayMs = 0, jitterMs = 0 } = asked;
    const delay = (quantity: string, wanted: number, error: number, tolerance: number): FidelityRow =>
      row(quantity, "ms", wanted, delayMs + error, wanted - tolerance, wanted + tolerance);
    // A uniform variation has its first and 99th percentile at 98 % of its half width.
    const reach = 0.98 * jitterMs;
    return [
      ...(jitterMs > 0 ? [delay("delay, p1", delayMs - reach, p1, P99_TOLERANCE_MS)] : []),
      delay("delay, median", delayMs, median, MEDIAN_TOLERANCE_MS),
      delay("delay, p99", delayMs + reach, p99, P99_TOLERANCE_MS),
    ];
  }
  if (result.rateMbps !== undefined && asked.rateMbps !== undefined) {
    const within = RATE_TOLERANCE * asked.rateMbps;
    return [row("rate", "Mbit/s", asked.rateMbps, result.rateMbps, asked.rateMbps - within, asked.rateMbps + within)];
  }
  return lossRows(asked, result, row);
}

type MakeRow = (
  quantity: string,
  unit: string,
  asked: number,
  measured: number,
  low: number,
  high: number,
) => FidelityRow;

/**
 * The asked loss must lie in the interval around the measured one. Of many 95 % intervals some miss by chance, so a
 * row fails by the interval that all rows together hold with 95 %, and the narrower one is noted.
 */
function lossRows(asked: Direction, result: ProbeResult, row: MakeRow): FidelityRow[] {
  const { lossRatio = 0, interval, familyInterval } = result;
  if (interval === undefined || familyInterval === undefined) return [];
  const { burstLoss } = asked;
  const bad = burstLoss === undefined ? 0 : burstLoss.goodToBad / (burstLoss.goodToBad + burstLoss.badToGood);
  const wanted =
    burstLoss === undefined ? (asked.lossRatio ?? 0) : bad * burstLoss.lossBad + (1 - bad) * burstLoss.lossGood;
  const loss = row("loss", "%", 100 * wanted, 100 * lossRatio, 100 * familyInterval.low, 100 * familyInterval.high);
  const inside = wanted >= familyInterval.low && wanted <= familyInterval.high;
  const within95 = wanted >= interval.low && wanted <= interval.high;
  const text = `${within95 ? "in" : "not in"} its own 95 % interval, ${percent(interval.low)} to ${percent(interval.high)}`;
  const rows = [{ ...loss, ok: loss.note === "" && inside, note: [loss.note, text].filter(Boolean).join("; ") }];
  if (burstLoss?.lossBad === 1 && burstLoss.lossGood === 0) {
    // Every packet in the bad state is lost: lengths are geometric.
    const length = 1 / burstLoss.badToGood;
    const within =
      (STANDARD_ERRORS * length * Math.sqrt(1 - burstLoss.badToGood)) / Math.sqrt(Math.max(1, result.bursts ?? 0));
    rows.push(row("burst length", "packets", length, result.meanBurstLength ?? 0, length - within, length + within));
  }
  return rows;
}

function spoiledBy({ asked, probe }: FidelitySetting, result: ProbeResult, emulatorDrops: number): string {
  const lossless = (asked.lossRatio ?? 0) === 0 && asked.burstLoss === undefined && probe.mode === "delay";
  return [
    result.receiverDrops > 0 && `the receiver's buffer dropped ${result.receiverDrops}`,
    result.clockStepMs !== 0 && `the clock stepped by ${round(result.clockStepMs)} ms`,
    result.reordered > 0 && `${result.reordered} packets were reordered`,
    emulatorDrops > 0 && `netpath dropped ${emulatorDrops} by its own fault`,
    lossless && result.received < result.sent && `${result.sent - result.received} packets were lost`,
    result.received === 0 && "nothing arrived",
    probe.mode === "rate" &&
      (result.offeredMbps ?? Number.POSITIVE_INFINITY) < (1 + RATE_TOLERANCE) * (asked.rateMbps ?? 0) &&
      `the probe could send only ${Math.round(result.offeredMbps ?? 0)} Mbit/s`,
  ]
    .filter((reason) => reason !== false)
    .join("; ");
}

function describe({ rateMbps, delayMs = 0, jitterMs, lossRatio, burstLoss }: Direction): string {
  return [
    rateMbps !== undefined && `${rateMbps} Mbit/s`,
    `${delayMs} ms`,
    jitterMs !== undefined && `jitter ${jitterMs} ms`,
    lossRatio !== undefined && `loss ${round(100 * lossRatio)} %`,
    burstLoss !== undefined && "loss in bursts",
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
