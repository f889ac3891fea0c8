// Numbers as people read them.

const THOUSANDS = new Intl.NumberFormat("en-US", { maximumFractionDigits: 3 });

/** 1,200 */
export function count(value: number): string {
  return THOUSANDS.format(value);
}

/** `1 rule`, `2 rules` */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** A fraction as a percentage with three digits: `2.5 %` */
export function percent(fraction: number): string {
  return `${count(rounded(fraction * 100))} %`;
}

export function milliseconds(ms: number): string {
  return ms >= 10_000 ? `${count(rounded(ms / 1000))} s` : `${count(rounded(ms))} ms`;
}

/** Bytes per second, in the unit in which lines are sold: `200 Mbit/s` */
export function rate(bytesPerSecond: number): string {
  return `${count(rounded((bytesPerSecond * 8) / 1e6))} Mbit/s`;
}

export function bytes(value: number): string {
  if (value >= 1e9) return `${count(rounded(value / 1e9))} GB`;
  if (value >= 1e6) return `${count(rounded(value / 1e6))} MB`;
  return value >= 1e4 ? `${count(rounded(value / 1e3))} kB` : counted(value, "byte");
}

function rounded(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}

const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
] as const;

/** A time from the API to the second, UTC. It is "-" for the initial policy and its activation, which nobody made. */
export function timeText(iso: string): string {
  const ms = Date.parse(iso);
  return ms > 0 ? `${new Date(ms).toISOString().slice(0, 19)}Z` : "-";
}

/** How long ago that was, in the largest unit that fits: `3 min ago`. As clocks differ, a time in the future is now. */
export function agoText(iso: string, nowMs: number): string {
  const ms = Date.parse(iso);
  return ms > 0 ? sinceText(nowMs - ms) : "-";
}

/** The same, of a length in milliseconds. */
export function sinceText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const unit = UNITS.find(([, length]) => seconds >= length);
  return unit === undefined ? "just now" : `${Math.floor(seconds / unit[1])} ${unit[0]} ago`;
}

/** When that was, as a cell of a table: `2026-11-21T10:00:00Z  3 min ago`. */
export function whenText(iso: string, nowMs: number): string {
  const ago = agoText(iso, nowMs);
  return ago === "-" ? ago : `${timeText(iso)}  ${ago}`;
}

/** Who made something, and when: `by deploy, 3 min ago: more for Japan` */
export function madeText(author: string, iso: string, note: string | null, nowMs: number): string {
  const ago = agoText(iso, nowMs);
  return `by ${author}${ago === "-" ? "" : `, ${ago}`}${note === null ? "" : `: ${note}`}`;
}

/** With two digits: `2.2`, `120` */
export function roughly(value: number): string {
  return count(Number(value.toPrecision(2)));
}
