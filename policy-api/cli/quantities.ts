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
