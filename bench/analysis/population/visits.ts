import type { PopulationDescription } from "../../model/population.ts";
import { integer, normal, type Random } from "../statistics/random.ts";

/** One visit of a client: its pages, and when each begins. */
export interface Visit {
  /** Since the beginning of the client's first visit, milliseconds. */
  readonly pagesAtMs: readonly number[];
  /** Whether it comes over another path, from another address, than the visit before. */
  readonly isMoved: boolean;
}

/** What befalls one client, drawn before any policy decides. */
export interface Life {
  readonly visits: readonly Visit[];
  readonly isUdpBlocked: boolean;
  /** How many other devices are behind its address. */
  readonly others: number;
  /** Which client of the run it is on each visit's path: the same one unless it moved. An offset into the clients. */
  readonly moves: readonly number[];
}

/** A chain of visits is cut here: the first, and two returns. */
const VISITS_MAX = 3;
/** Return times are lognormal around the described ones. */
const RETURN_DEVIATION = 0.3;

/** Draws a client's visits. @param withReturns false: one visit alone */
export function drawLife(
  { visit, udp, behindSharedAddress }: PopulationDescription,
  clients: number,
  withReturns: boolean,
  random: Random,
): Life {
  const visits: Visit[] = [];
  let atMs = 0;
  let isMoved = false;
  const moves: number[] = [];
  for (;;) {
    const pagesAtMs = [atMs];
    for (let page = 1; page < pagesIn(visit.pages, random()); page++) {
      const { median, sigma } = visit.pauseS.lognormal;
      const [low, high] = visit.pauseS.bounds;
      atMs += 1_000 * Math.min(Math.max(median * Math.exp(sigma * normal(random)), low), high);
      pagesAtMs.push(atMs);
    }
    visits.push({ pagesAtMs, isMoved });
    moves.push(isMoved ? integer(clients, random) : 0);
    const unit = random();
    const again = withReturns && visits.length < VISITS_MAX ? returnAfter(visit.returns, unit) : undefined;
    if (again === undefined) break;
    atMs += 1_000 * again * Math.exp(RETURN_DEVIATION * normal(random));
    isMoved = random() < visit.newPathOnReturn;
  }
  const [least, most] = behindSharedAddress.devices;
  const isShared = random() < behindSharedAddress.share;
  return {
    visits,
    moves,
    isUdpBlocked: random() < udp.blocked,
    others: isShared ? least - 1 + integer(most - least + 1, random) : 0,
  };
}

function pagesIn(shares: Readonly<Record<string, number>>, unit: number): number {
  let left = unit;
  for (const [pages, share] of Object.entries(shares)) {
    left -= share;
    if (left < 0) return Number(pages);
  }
  return 1;
}

function returnAfter(returns: PopulationDescription["visit"]["returns"], unit: number): number | undefined {
  let left = unit;
  for (const { afterS, share } of returns) {
    left -= share;
    if (left < 0) return afterS;
  }
  return undefined;
}
