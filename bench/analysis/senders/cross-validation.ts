import { percentileInterval, type Interval } from "../statistics/bootstrap.ts";
import { integer, type Random } from "../statistics/random.ts";
import { mean } from "../statistics/summary.ts";

/** A place and what HTTP/3 gains there: ln(HTTP/2's time / HTTP/3's), with its standard error. */
export interface Gain {
  readonly rttMs: number;
  readonly lossRatio: number;
  readonly contentBytes: number;
  readonly gain: number;
  readonly se: number;
}

type Predict = (place: Omit<Gain, "gain" | "se">) => number;
type Fit = (known: readonly Gain[]) => Predict;

/** What a form of policy loses at places of a level that it was fitted without. */
export interface Validated {
  readonly form: string;
  /** Figures that the form has, where all places are known. */
  readonly figures: string;
  /** Mean of what its answers gain less than the right ones, in points of a gain (0.01). */
  readonly regretPoints: number;
  /** The same above ours, with a 95 % interval over places. */
  readonly aboveOurs: Interval;
}

const rttAt = (rttMs: number): number => Math.log(rttMs + 1);
const lossAt = (lossRatio: number): number => Math.log(lossRatio + 0.0005);

/** Linear between the places that are left, in the logarithms that the decision uses; outside, the nearest end. */
const table: Fit = (known) => {
  const levels = (of: (one: Gain) => number): number[] => [...new Set(known.map(of))].sort((a, b) => a - b);
  const [rtts, losses] = [levels(({ rttMs }) => rttMs), levels(({ lossRatio }) => lossRatio)];
  return ({ rttMs, lossRatio, contentBytes }) => {
    const [r0, r1, rShare] = between(rtts, rttMs, rttAt);
    const [l0, l1, lShare] = between(losses, lossRatio, lossAt);
    const at = (rtt: number, loss: number): number =>
      known.find((one) => one.rttMs === rtt && one.lossRatio === loss && one.contentBytes === contentBytes)?.gain ?? 0;
    const low = at(r0, l0) * (1 - rShare) + at(r1, l0) * rShare;
    const high = at(r0, l1) * (1 - rShare) + at(r1, l1) * rShare;
    return low * (1 - lShare) + high * lShare;
  };
};

function between(
  levels: readonly number[],
  value: number,
  coordinate: (value: number) => number,
): readonly [below: number, above: number, share: number] {
  const above = levels.find((level) => level >= value) ?? levels.at(-1) ?? value;
  const below = levels.findLast((level) => level <= value) ?? levels[0] ?? value;
  if (above <= below) return [below, above, 0];
  return [below, above, (coordinate(value) - coordinate(below)) / (coordinate(above) - coordinate(below))];
}

const oneBit: Fit = (known) => {
  const gain = mean(known.map((one) => one.gain));
  return () => gain;
};

/** HTTP/3 where ln loss + a ln RTT is above b: the pair that loses least where it was fitted. */
const zeroLine: Fit = (known) => {
  const slopes = [-2, -1, -0.5, 0, 0.5, 1, 2];
  const candidates = slopes.flatMap((slope) =>
    // First the lines that have all places on one side: of lines that do equally well, the first is taken.
    [-Infinity, Infinity, ...known.map((one) => lossAt(one.lossRatio) + slope * rttAt(one.rttMs) - 1e-9)].map(
      (offset) => ({ slope, offset }),
    ),
  );
  const isBeyond = ({ slope, offset }: (typeof candidates)[number], place: Omit<Gain, "gain" | "se">): boolean =>
    lossAt(place.lossRatio) + slope * rttAt(place.rttMs) > offset;
  const best = candidates
    .map((line) => ({ line, regret: mean(known.map((one) => regretOf(one.gain, isBeyond(line, one)))) }))
    .reduce((a, b) => (b.regret < a.regret ? b : a));
  return (place) => (isBeyond(best.line, place) ? 1 : -1);
};

/** The mean of each of two classes of RTT and three of loss. */
const sixClasses: Fit = (known) => {
  const classOf = ({ rttMs, lossRatio }: Pick<Gain, "rttMs" | "lossRatio">): number =>
    (rttMs > 50 ? 3 : 0) + (lossRatio < 0.001 ? 0 : lossRatio < 0.008 ? 1 : 2);
  const all = mean(known.map((one) => one.gain));
  const means = Array.from({ length: 6 }, (_, i) => {
    const own = known.filter((one) => classOf(one) === i);
    return own.length === 0 ? all : mean(own.map((one) => one.gain));
  });
  return (place) => means[classOf(place)] ?? all;
};

/** The mean of the five nearest places of the same size. */
const fiveNearest: Fit = (known) => (place) => {
  const away = (one: Gain): number =>
    Math.hypot(rttAt(one.rttMs) - rttAt(place.rttMs), lossAt(one.lossRatio) - lossAt(place.lossRatio));
  const own = known.filter(({ contentBytes }) => contentBytes === place.contentBytes);
  return mean(
    own
      .toSorted((a, b) => away(a) - away(b))
      .slice(0, 5)
      .map((one) => one.gain),
  );
};

export const OURS = "the gain table";
const FORMS: readonly (readonly [form: string, figures: string, fit: Fit])[] = [
  ["one bit", "1", oneBit],
  ["a zero line", "2", zeroLine],
  ["classes: two of RTT, three of loss", "6", sixClasses],
  ["five nearest neighbours", "all", fiveNearest],
  [OURS, "48", table],
];

/** What an answer gains less than the right one. */
function regretOf(gain: number, offered: boolean): number {
  return Math.max(gain, 0) - (offered ? gain : 0);
}

/**
 * Leaves every level of RTT and every level of loss out once, fits each form to the other places, and asks it about those that
 * were left out. Pure.
 */
export function crossValidate(gains: readonly Gain[], random: Random, resamples = 2_000): Validated[] {
  const folds = (["rttMs", "lossRatio"] as const).flatMap((axis) =>
    [...new Set(gains.map((one) => one[axis]))].map((level) => ({
      known: gains.filter((one) => one[axis] !== level),
      left: gains.filter((one) => one[axis] === level),
    })),
  );
  const regrets = FORMS.map(([, , fit]) =>
    folds.flatMap(({ known, left }) => {
      const predict = fit(known);
      return left.map((one) => 100 * regretOf(one.gain, predict(one) > 0));
    }),
  );
  const ours = regrets[FORMS.findIndex(([form]) => form === OURS)] ?? [];
  const draws = Array.from({ length: resamples }, () => ours.map(() => integer(ours.length, random)));
  return FORMS.map(([form, figures], i) => {
    const own = regrets[i] ?? [];
    const above = own.map((regret, place) => regret - (ours[place] ?? 0));
    return {
      form,
      figures,
      regretPoints: mean(own),
      aboveOurs: percentileInterval(
        mean(above),
        draws.map((drawn) => mean(drawn.map((place) => above[place] ?? 0))),
      ),
    };
  });
}
