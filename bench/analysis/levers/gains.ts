import { BASE, type Lever } from "../../model/levers.ts";
import { type Interval, percentileInterval } from "../statistics/bootstrap.ts";
import { integer, seededRandom } from "../statistics/random.ts";
import { mean, quantile } from "../statistics/summary.ts";

/** Pages of a visit that differ: the first, with the connection's set-up; those after a pause; the first of a return. */
export const KINDS = ["first", "later", "return"] as const;
export type Kind = (typeof KINDS)[number];

/** Times of one kind's pages, milliseconds: a list for each load. */
type Loads = readonly (readonly number[])[];

/** A client, or a network of a browser, and what it measured by each lever. */
export interface MeasuredPlace {
  readonly name: string;
  readonly rttMs: number;
  readonly lossRatio: number;
  readonly rateMbps: number;
  readonly pages: Readonly<Record<string, Readonly<Record<Kind, Loads>>>>;
}

/** Whoever picks for each place: the best of these, by half of a place's loads, and judged by the other half. */
function picksOf(levers: readonly Lever[]): (readonly [name: string, from: readonly string[]])[] {
  const all = levers.map(({ id }) => id);
  const picks: (readonly [string, readonly string[]])[] = [
    ["for each: cubic or quic-go", [BASE, "quic-go"]],
    ["for each: bbr or quic-go", ["bbr", "quic-go"]],
    ["for each: bbr with both, or quic-go", ["bbr-both", "quic-go"]],
    ["for each: bbr or quiche-bbr2", ["bbr", "quiche-bbr2"]],
    ["for each: the best TCP", tcpOf(levers)],
    ["for each: the best of all", all],
  ];
  return picks.filter(([, from]) => from.every((id) => all.includes(id)));
}

function tcpOf(levers: readonly Lever[]): readonly string[] {
  return levers.filter(({ arm }) => arm === "bare").map(({ id }) => id);
}

/** A gain over HTTP/2 with cubic, over places: ln(its time / this one's). 0.1 is about 10 % less time. */
export interface Gain {
  readonly mean: Interval;
  readonly p50: number;
  readonly p75: number;
  readonly p95: number;
}

export interface LeverGains {
  readonly lever: string;
  readonly places: number;
  readonly gains: Readonly<Record<Kind, Gain>>;
}

/** Gains of every lever and every pick over these places; those that lack loads of a lever are left out of all. */
export function leverGains(places: readonly MeasuredPlace[], levers: readonly Lever[], seed: number): LeverGains[] {
  const complete = places.filter((place) => isComplete(place, levers));
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ...levers.map(({ id, name }) => [name, [id]] as const),
    ...picksOf(levers),
  ];
  return rows.map(([lever, from]) => {
    const own = (kind: Kind): Gain =>
      gainOver(
        complete.map((place) => pickedGain(place, kind, from)),
        seed,
      );
    return {
      lever,
      places: complete.length,
      gains: { first: own("first"), later: own("later"), return: own("return") },
    };
  });
}

/** How much more picking the best TCP for each place gains than the best TCP for all, and for how many by over 3 %. */
export function pickedTcp(places: readonly MeasuredPlace[], levers: readonly Lever[], seed: number) {
  const complete = places.filter((place) => isComplete(place, levers));
  const tcp = tcpOf(levers);
  const gainsBy = (kind: Kind, from: readonly string[]): number[] =>
    complete.map((place) => pickedGain(place, kind, from));
  return KINDS.map((kind) => {
    const [best = BASE] = tcp.toSorted((a, b) => mean(gainsBy(kind, [b])) - mean(gainsBy(kind, [a])));
    const single = gainsBy(kind, [best]);
    const more = gainsBy(kind, tcp).map((gain, i) => gain - (single[i] ?? 0));
    const PLAIN = 0.03;
    return { kind, best, more: gainOver(more, seed), over: more.filter((gain) => gain > PLAIN).length };
  });
}

const LOADS_MIN = 2;

function isComplete({ pages }: MeasuredPlace, levers: readonly Lever[]): boolean {
  return levers.every(({ id }) => KINDS.every((kind) => (pages[id]?.[kind].length ?? 0) >= LOADS_MIN));
}

/** The gain of the lever that one half of the loads picks, by the other half; both ways, and their mean. */
function pickedGain({ pages }: MeasuredPlace, kind: Kind, from: readonly string[]): number {
  const time = (lever: string, half: 0 | 1 | undefined): number =>
    mean((pages[lever]?.[kind] ?? []).filter((_, i) => half === undefined || i % 2 === half).flat());
  const [only] = from;
  if (only !== undefined && from.length === 1) return Math.log(time(BASE, undefined)) - Math.log(time(only, undefined));
  const halves = ([0, 1] as const).map((half) => {
    const [picked = BASE] = from.toSorted((a, b) => time(a, half) - time(b, half));
    const other = half === 0 ? 1 : 0;
    return Math.log(time(BASE, other)) - Math.log(time(picked, other));
  });
  return mean(halves);
}

const RESAMPLES = 4_000;

/** The mean over places, with an interval by resampling them, and quantiles. */
function gainOver(gains: readonly number[], seed: number): Gain {
  const random = seededRandom(seed, "levers");
  const means = Array.from({ length: RESAMPLES }, () =>
    mean(gains.map(() => gains[integer(gains.length, random)] ?? 0)),
  );
  const at = (probability: number): number => quantile(gains, probability);
  return { mean: percentileInterval(mean(gains), means), p50: at(0.5), p75: at(0.75), p95: at(0.95) };
}
