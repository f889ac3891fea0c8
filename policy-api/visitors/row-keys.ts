import type { TablePlace } from "../decision/gain-table.ts";

/**
 * Where a page stands: the first page of a client that nobody knows; a next page of a visit; a return's first page. The server
 * knows it before it decides.
 */
export const CELL_POSITIONS = ["new", "next", "return"] as const;
export type CellPosition = (typeof CELL_POSITIONS)[number];

/**
 * A place of a version's gain table, and a position. Where nobody counts packets the cell is of all losses, as the policy's mix
 * has them.
 */
export interface Cell extends TablePlace {
  readonly position: CellPosition;
}

/** A cell as a key of a store: `next/3/1/-` is a next page at the fourth RTT and the second size, of any loss. */
export function cellKey({ position, rtt, size, loss }: Cell): string {
  return [position, rtt, size, loss ?? "-"].join("/");
}

/**
 * The key of sums over all cells, of each client's whole row. It is kept besides: cells merged would count a client once for
 * each cell that it came to.
 */
export const EVERYWHERE = "all";

const CELL_KEY = /^(new|next|return)\/(\d|[1-9]\d)\/(\d|[1-9]\d)\/(\d|[1-9]\d|-)$/;

/** The cell of a key. Undefined if it is none. */
export function parseCellKey(key: string): Cell | undefined {
  const [, position, rtt, size, loss] = CELL_KEY.exec(key) ?? [];
  if (position === undefined) return undefined;
  const cell = { position: position as CellPosition, rtt: Number(rtt), size: Number(size) };
  return loss === "-" ? cell : { ...cell, loss: Number(loss) };
}

/**
 * The key of the sums of next pages of a class of RTT in one period of assignment: `during/10345/3`. They show when an effect
 * changes.
 */
export function periodKey(period: number, rttClass: number): string {
  return `during/${period}/${rttClass}`;
}

/** What a key of a period names. Undefined if it is none. */
export function parsePeriodKey(key: string): { readonly period: number; readonly rttClass: number } | undefined {
  const [, period, rttClass] = PERIOD_KEY.exec(key) ?? [];
  return period === undefined ? undefined : { period: Number(period), rttClass: Number(rttClass) };
}

const PERIOD_KEY = /^during\/(\d{1,9})\/(\d)$/;

/** Classes of clients by RTT, milliseconds: below the first, between two, and from the last one on. They hold for every version. */
export const RTT_CLASS_MS = [10, 30, 80, 150] as const;

/** The class of an RTT: 0 to RTT_CLASS_MS.length. */
export function rttClassOf(rttMs: number): number {
  return RTT_CLASS_MS.filter((from) => rttMs >= from).length;
}

/** The key of a class's sums. */
export function rttKey(rttClass: number): string {
  return `rtt/${rttClass}`;
}

/** `under 10 ms`, `30 to 80 ms`, `150 ms and more` */
export function rttClassText(rttClass: number): string {
  const [from, to] = [RTT_CLASS_MS[rttClass - 1], RTT_CLASS_MS[rttClass]];
  if (from === undefined) return `under ${to} ms`;
  return to === undefined ? `${from} ms and more` : `${from} to ${to} ms`;
}

export const ASN_PREFIX = "asn/";

/** The key of an autonomous system's sums: `asn/64496`. */
export function asnKey(asn: number): string {
  return `${ASN_PREFIX}${asn}`;
}

/** The number of an autonomous system's key. Undefined if it is none. */
export function parseAsnKey(key: string): number | undefined {
  const digits = /^asn\/(\d{1,10})$/.exec(key)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

export const COUNTRY_PREFIX = "country/";

/** The key of a country's sums: `country/JP`. Undefined where no country is named (XX and ZZ stand for none, T1 for Tor). */
export function countryKey(country: string): string | undefined {
  const key = COUNTRY_PREFIX + country;
  return parseCountryKey(key) === undefined ? undefined : key;
}

/** The two letters of a country's key. Undefined if it is none. */
export function parseCountryKey(key: string): string | undefined {
  return /^country\/((?!XX|ZZ)[A-Z]{2})$/.exec(key)?.[1];
}

/** Whether it is a key of sums at all. */
export function isRowKey(key: string): boolean {
  const isOfSome = parseAsnKey(key) ?? parseCountryKey(key) ?? parsePeriodKey(key) ?? parseCellKey(key);
  return key === EVERYWHERE || /^rtt\/\d$/.test(key) || isOfSome !== undefined;
}
