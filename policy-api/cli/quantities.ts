import type { ClientRecord } from "../api/contract/decisions.ts";
import { LOSS_NODES } from "../decision/loss-nodes.ts";
import { NETWORK_GIVES_MAX, UPPER_LEVELS } from "../decision/mix.ts";

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

const LEVELS = { network: "network", asn: "autonomous system", site: "site" } as const;

/** How losses are shared out: `no loss: 60 %, loss 0.1 %: 7.5 %`. A share under half a percent is left out. */
export function lossesText(weights: readonly number[]): string {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return LOSS_NODES.flatMap((loss, i) => {
    const share = (weights[i] ?? 0) / total;
    return share >= 0.005 ? [`${loss === 0 ? "no loss" : `loss ${percent(loss)}`}: ${percent(share)}`] : [];
  }).join(", ");
}

/** What is known of the levels above a client, by their names: how many clients there are, and what they lose. */
export function levelsText(known: Pick<ClientRecord, keyof typeof LEVELS>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    UPPER_LEVELS.flatMap((level) => {
      const clients = known[level] ?? [];
      // Clients fade, and those of few packets count little.
      const worth = clients.reduce((sum, n) => sum + n, 0);
      if (worth < 0.005) return [];
      // Else a site would seem to have fewer clients than one of its networks.
      const capped = level === "network" ? "" : `, where a network counts for ${NETWORK_GIVES_MAX} at most`;
      return [[LEVELS[level], `${roughly(worth)} clients' worth${capped}; ${lossesText(clients)}`]];
    }),
  );
}

/** With two digits: `2.2`, `120` */
export function roughly(value: number): string {
  return count(Number(value.toPrecision(2)));
}
