/**
 * The key of the sums of next pages of a class of RTT in one period of assignment: `during/10345/3`. They show when an effect
 * changes.
 */
export function periodKey(period: number, rttClass: number): string {
  return `during/${period}/${rttClass}`;
}

/** What a key of a period names. Undefined if it is none. */
export function parsePeriodKey(key: string): { readonly period: number; readonly rttClass: number } | undefined {
  const [, period, rttClass] = KEY.exec(key) ?? [];
  return period === undefined ? undefined : { period: Number(period), rttClass: Number(rttClass) };
}

const KEY = /^during\/(\d{1,9})\/(\d)$/;
