import type { Transport } from "../../../policy-api/core/sample.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";
import { mean, median } from "../statistics/summary.ts";

/** A mean of times in the logarithm, with the sampling variance of that logarithm. */
export interface LogMean {
  readonly log: number;
  readonly variance: number;
  readonly n: number;
}

/** Where a cell lies, as configured or as a transport measured it. */
export interface Place {
  readonly rttMs: number;
  readonly lossRatio: number;
  readonly deliveryRateBps: number;
}

/** One place of the measurements: how long its pages take, and where it lies in each coordinates. */
export type CalibrationCell = ReturnType<typeof cellsOf>[number];

/** Loads of each kind without which a cell has no spread to speak of. */
const LOADS_MIN = 3;
/** Even the same load twice differs by this much, in the logarithm: below it a variance is luck. */
const VARIANCE_FLOOR = 0.01 ** 2;

/** Gathers rows of page loads (flow `trained` of the fixed arms) into cells; those that lack loads are left out. */
export function cellsOf(rows: readonly LoadRow[]) {
  const pages = rows.filter((row) => row.flow === "trained" && counts(row) && row.loadMs !== null);
  return [...Map.groupBy(pages, ({ cell }) => cell)].flatMap(([id, own]) => {
    const first = own[0];
    const of = (arm: LoadRow["arm"]): LoadRow[] => own.filter((row) => row.arm === arm);
    const [stay, switched, cold] = [of("fixed-h2"), of("always-offer"), of("fixed-h3")];
    if (first === undefined || [stay, switched, cold].some(({ length }) => length < LOADS_MIN)) return [];
    return [
      {
        id,
        congestion: first.congestion,
        contentBytes: first.imageBytes,
        configured: {
          rttMs: 2 * first.delayMs,
          lossRatio: first.lossRatio,
          deliveryRateBps: (first.rateMbps * 1e6) / 8,
        },
        /** As senders measured it, loads of one transport pooled; undefined where they did not measure enough. */
        measured: { tcp: placeOf(stay, "tcp"), quic: placeOf(cold, "quic") },
        stay: logMean(stay),
        switch: logMean(switched),
        cold: logMean(cold),
      },
    ];
  });
}

/** ln of the mean load time; its variance by the delta method, s^2 / (n mean^2). */
function logMean(rows: readonly LoadRow[]): LogMean {
  const times = rows.map(({ loadMs }) => loadMs ?? Number.NaN);
  const average = mean(times);
  const squares = times.reduce((total, time) => total + (time - average) ** 2, 0);
  const variance = squares / (times.length - 1) / times.length / average ** 2;
  return { log: Math.log(average), variance: Math.max(variance, VARIANCE_FLOOR / times.length), n: times.length };
}

/** Loss of all packets, medians of RTT and rate: what a client's estimate tends to. */
function placeOf(rows: readonly LoadRow[], transport: Transport): Place | undefined {
  const known = (column: "MinRttMs" | "PacketsSent" | "PacketsLost" | "DeliveryRateBps"): number[] =>
    rows.flatMap((row) => row[`${transport}${column}`] ?? []);
  const [rtts, rates] = [known("MinRttMs"), known("DeliveryRateBps")];
  const packets = sum(known("PacketsSent"));
  if (rtts.length === 0 || rates.length === 0 || packets === 0) return undefined;
  return { rttMs: median(rtts), lossRatio: sum(known("PacketsLost")) / packets, deliveryRateBps: median(rates) };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
