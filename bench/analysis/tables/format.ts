import type { Interval, Spread } from "../statistics/bootstrap.ts";
import type { Proportion } from "../statistics/proportion.ts";

const UNKNOWN = "-";

/** `1,234`, `56.7`, `0.89`: three figures or more, and none that tell nothing. */
export function number(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return UNKNOWN;
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A bound farther out than this comes of one load among few: how far says nothing. */
export const FAR_RATIO = 10;

/** `123 (110 to 140)`; a bound ten times as high is `over 1,230`. */
export function withInterval(interval: Interval | null | undefined): string {
  if (interval == null) return UNKNOWN;
  const { estimate, low, high } = interval;
  if (!Number.isFinite(high)) return number(estimate);
  const far = high > FAR_RATIO * estimate;
  return `${number(estimate)} (${number(low)} to ${far ? `over ${number(FAR_RATIO * estimate)}` : number(high)})`;
}

/** `12.3 %` */
export function percent(ratio: number | null | undefined): string {
  if (ratio === null || ratio === undefined || !Number.isFinite(ratio)) return UNKNOWN;
  return `${(ratio * 100).toFixed(1)} %`;
}

/** `12.3 % (10.1 to 14.5)` */
export function percentWithInterval(interval: Interval | null | undefined): string {
  if (interval == null) return UNKNOWN;
  const { estimate, low, high } = interval;
  // Of gains and regrets, which are ratios less 1.
  const far = 1 + high > FAR_RATIO * (1 + estimate);
  const one = (ratio: number): string => (ratio * 100).toFixed(1);
  if (!Number.isFinite(high)) return percent(estimate);
  const end = far ? `over ${one(FAR_RATIO * (1 + estimate) - 1)}` : one(high);
  return `${percent(estimate)} (${one(low)} to ${end})`;
}

/** `97 % of 40` */
export function share(proportion: Proportion | undefined): string {
  if (proportion === undefined || proportion.n === 0) return UNKNOWN;
  return `${Math.round(proportion.share * 100)} % of ${proportion.n}`;
}

/** `10 MB`, `125 bytes` */
export function size(bytes: number): string {
  if (bytes >= 1e6) return `${Number((bytes / 1e6).toFixed(1))} MB`;
  return bytes >= 1e3 ? `${Number((bytes / 1e3).toFixed(1))} kB` : `${bytes} bytes`;
}

/** `1.23 (1.10 to 1.31)`: the median of the rounds' ratios, and the middle half of them. */
export function withQuartiles({ median, low, high }: Spread): string {
  if (!Number.isFinite(median)) return "-";
  return `${number(median)} (${number(low)} to ${number(high)})`;
}
