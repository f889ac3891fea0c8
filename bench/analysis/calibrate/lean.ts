import type { Gains, GainTable } from "../../../policy-api/decision/gain-table.ts";
import { mean } from "../statistics/summary.ts";
import type { PriceAt } from "./price.ts";

/** Round trips of a page besides its bytes: of a next page over an open connection, and of a return, which sets one up. */
const ROUNDS = { next: 4, return: 6 } as const;
/** The line of the places that are fitted: 50 Mbit/s, in bytes per millisecond. */
const BYTES_PER_MS = 50_000 / 8;
/** What a lean table is written at. */
const RTTS_MS = [1, 10, 30, 100, 300] as const;
const SIZES_BYTES = [100_000, 1_000_000, 10_000_000, 100_000_000] as const;
/** From this loss on a client's own loss counts whole, in place of what round trips gain; between none and it, by its share of it. */
export const MUCH_LOSS = 0.02;
const STEP = 0.01;
const STEPS = 300;
/** A standard error below this would claim more than any measurement. */
const LEAST_SE = 0.001;

export type Kind = keyof typeof ROUNDS;

/** What figures say of pages: what a round trip gains, and what a page over HTTP/3 takes longer all the same; both are logarithms. */
export interface PageGain {
  readonly gain: number;
  readonly cost: number;
  /** The root mean square of what is left. */
  readonly se: number;
}
export type PageGains = Readonly<Record<Kind, PageGain>>;

/** A gain that was measured. */
export interface Place {
  readonly rttMs: number;
  readonly bytes: number;
  readonly gain: number;
  readonly weight: number;
}

/** ln(HTTP/2's time / HTTP/3's) of a page whose round trips take e^-gain of the time over HTTP/3, and whose bytes take as long. */
export function roundTripGain(gain: number, kind: Kind, rttMs: number, contentBytes: number): number {
  const [bytes, rounds] = [contentBytes / BYTES_PER_MS, ROUNDS[kind] * rttMs];
  return Math.log((bytes + rounds) / (bytes + rounds * Math.exp(-gain)));
}

/**
 * The figures that fit gains best, by least squares. Pure.
 *
 * @param hasCost whether a page may take longer by something that hangs on neither RTT nor bytes
 */
export function fitOf(places: readonly Place[], kind: Kind, hasCost: boolean): PageGain {
  const weight = places.reduce((sum, place) => sum + place.weight, 0);
  const meanOf = (of: (place: Place) => number): number =>
    places.reduce((sum, place) => sum + place.weight * of(place), 0) / weight;
  const fits = Array.from({ length: 2 * STEPS + 1 }, (_, i): PageGain => {
    const gain = (i - STEPS) * STEP;
    const less = (place: Place): number => roundTripGain(gain, kind, place.rttMs, place.bytes) - place.gain;
    const cost = hasCost ? meanOf(less) : 0;
    return { gain, cost, se: Math.sqrt(meanOf((place) => (less(place) - cost) ** 2)) };
  });
  return fits.reduce((best, one) => (one.se < best.se ? one : best));
}

/**
 * A table's gains: the means over losses.
 *
 * @param mix the share of clients with each of the table's losses
 */
export function placesIn(table: GainTable, mix: readonly number[], kind: Kind): Place[] {
  return table.contentBytes.flatMap((bytes, size) =>
    table.rttMs.map((rttMs, rtt) => ({
      rttMs,
      bytes,
      gain: mix.reduce((sum, share, loss) => sum + share * (table[kind].gain[size]?.[loss]?.[rtt] ?? Number.NaN), 0),
      weight: 1,
    })),
  );
}

/** What a page gains where much is lost: the mean over all measured places with as much loss or more, and their standard deviation. Pure. */
export function lossyGainOf(table: GainTable, kind: Kind): { readonly gain: number; readonly se: number } {
  const all = table[kind].gain.flatMap((losses) =>
    losses.flatMap((rtts, loss) => ((table.lossRatio[loss] ?? 0) >= MUCH_LOSS ? rtts : [])),
  );
  const gain = mean(all);
  return { gain, se: Math.sqrt(mean(all.map((one) => (one - gain) ** 2))) };
}

/** The mix of a lean table: a client that has shown no loss is taken to have none. */
export const LEAN_MIX = [1, 0] as const;

/**
 * A table by six figures, in place of a measured one: of next pages and of returns, what a round trip gains, what a page gains where much is
 * lost, and how certain both are. Pure.
 *
 * @param browsers in place of what a round trip gains, where browsers were measured; what they take longer counts where much is lost too
 */
export function leanTable(table: GainTable, mix: readonly number[], priceAt: PriceAt, browsers?: PageGains): GainTable {
  const gains = (kind: Kind): Gains => {
    const clean = browsers?.[kind] ?? fitOf(placesIn(table, mix, kind), kind, false);
    const lossy = lossyGainOf(table, kind);
    const at = (of: (rttMs: number, bytes: number) => number, much: number): number[][][] =>
      SIZES_BYTES.map((bytes) => [RTTS_MS.map((rttMs) => rounded(of(rttMs, bytes))), RTTS_MS.map(() => rounded(much))]);
    return {
      gain: at((rttMs, bytes) => roundTripGain(clean.gain, kind, rttMs, bytes) - clean.cost, lossy.gain - clean.cost),
      se: at(() => Math.max(clean.se, LEAST_SE), Math.max(lossy.se, LEAST_SE)),
    };
  };
  return {
    rttMs: RTTS_MS,
    lossRatio: [0, MUCH_LOSS],
    contentBytes: SIZES_BYTES,
    next: gains("next"),
    return: gains("return"),
    price: RTTS_MS.map((rttMs) => rounded(priceAt(rttMs).log)),
    priceSe: RTTS_MS.map((rttMs) => rounded(Math.max(priceAt(rttMs).se, LEAST_SE))),
  };
}

/** As many digits as a measurement has. */
function rounded(value: number): number {
  return Number(value.toFixed(3)) || 0;
}
