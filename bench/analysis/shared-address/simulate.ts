import { decide } from "../../../policy-api/core/decide.ts";
import {
  applyAnswer,
  earlierOffer,
  NO_OFFER,
  offersOf,
  offersTell,
  pausedUntilMs,
} from "../../../policy-api/core/offers.ts";
import { INITIAL_POLICY, type Policy } from "../../../policy-api/core/policy.ts";
import { integer, normal, type Random } from "../statistics/random.ts";

/** Who visits from one address. */
export interface Address {
  readonly visitsPerHour: number;
  readonly browsers: number;
  /** The share of browsers that can do QUIC, 0 to 1. */
  readonly able: number;
  /** How long an offer lives, seconds. */
  readonly maS: number;
  /** From then on UDP is blocked for all of them. */
  readonly blockedAfterMs?: number;
}

/** What its pages got. */
export interface Seen {
  firstPages: number;
  /** First pages of visits that were offered nothing, as offers paused. */
  pausedFirst: number;
  /** Later pages of browsers that can do QUIC, and how many of them came over it. */
  ablePages: number;
  overQuic: number;
  /** Offers to browsers that cannot do QUIC, and the page on which offers paused first (0: never). */
  vainOffers: number;
  pagesToPause: number;
}

interface Page {
  readonly atMs: number;
  readonly browser: number;
  readonly isFirst: boolean;
}

const ORIGIN = "o";
/** 2026-01-01. */
const BEGIN_MS = 1_767_225_600_000;
/** Between the pages of a visit: lognormal with this median, milliseconds, and this deviation of the logarithm. */
const PAUSE_MS = 15_000;
const PAUSE_SIGMA = 0.8;

/** HTTP/3 is faster for everybody: what is withheld, the pauses withhold. */
function policyOf(maS: number): Policy {
  return {
    ...INITIAL_POLICY,
    mode: "adaptive",
    method: { kind: "rtt-threshold", rttMs: 1 },
    ma: { minS: maS, maxS: maS },
  };
}

/**
 * Plays the visits of one address by the functions that the worker decides with. A browser holds an offer until it ends or `clear` comes;
 * a page comes over QUIC if its browser can do that and holds one. The store hears what the worker would tell it.
 */
export function play(address: Address, hours: number, random: Random): Seen {
  const policy = policyOf(address.maS);
  const able = Math.round(address.able * address.browsers);
  const holdsUntilMs = Array.from({ length: address.browsers }, () => 0);
  const seen: Seen = { firstPages: 0, pausedFirst: 0, ablePages: 0, overQuic: 0, vainOffers: 0, pagesToPause: 0 };
  let offers = NO_OFFER;
  for (const [count, { atMs, browser, isFirst }] of pagesOf(address, hours, random).entries()) {
    const isAble = browser < able && atMs < BEGIN_MS + (address.blockedAfterMs ?? Infinity);
    const transport = isAble && (holdsUntilMs[browser] ?? 0) > atMs ? "quic" : "tcp";
    const held = offersOf(offers, ORIGIN);
    const request = {
      transport,
      path: "/",
      rttMs: 50,
      offerUntilMs: held.untilMs,
      offering: held.offering,
      answeredAtMs: held.answeredAtMs,
      pausedUntilMs: pausedUntilMs(offers),
    } as const;
    const { advertise, reason } = decide(request, { state: "unknown" }, policy, atMs, undefined);
    const isPaused = reason === "udp-blocked";
    if (isFirst) seen.firstPages++;
    if (isFirst && isPaused) seen.pausedFirst++;
    if (isAble && !isFirst) seen.ablePages++;
    if (isAble && !isFirst && transport === "quic") seen.overQuic++;
    if (isPaused && seen.pagesToPause === 0) seen.pagesToPause = count + 1;
    if (advertise.kind === "nothing") continue;
    const offerUntilMs = advertise.kind === "h3" ? atMs + advertise.maS * 1000 : 0;
    if (!isAble && offerUntilMs > 0) seen.vainOffers++;
    holdsUntilMs[browser] = offerUntilMs;
    const earlier = isPaused ? undefined : earlierOffer(transport, offers, ORIGIN, atMs);
    const after = applyAnswer(offers, { atMs, origin: ORIGIN, offerUntilMs, earlierOffer: earlier });
    if (offersTell(offers, after, atMs)) offers = after;
  }
  return seen;
}

/** Visits come as a Poisson stream, each of a browser drawn anew. */
function pagesOf({ visitsPerHour, browsers }: Address, hours: number, random: Random): readonly Page[] {
  const pages: Page[] = [];
  const endMs = BEGIN_MS + hours * 3_600_000;
  const gapMs = (): number => (-Math.log(1 - random()) * 3_600_000) / visitsPerHour;
  for (let visitMs = BEGIN_MS + gapMs(); visitMs < endMs; visitMs += gapMs()) {
    const browser = integer(browsers, random);
    const count = pagesOfVisit(random());
    for (let atMs = visitMs, page = 0; page < count; page++) {
      pages.push({ atMs, browser, isFirst: page === 0 });
      atMs += PAUSE_MS * Math.exp(PAUSE_SIGMA * normal(random));
    }
  }
  return pages.sort((a, b) => a.atMs - b.atMs);
}

function pagesOfVisit(unit: number): number {
  let left = unit;
  const place = INITIAL_POLICY.visit.pages.findIndex((share) => (left -= share) < 0);
  return place < 0 ? INITIAL_POLICY.visit.pages.length : place + 1;
}
