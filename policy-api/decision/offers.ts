import type { History } from "./facts.ts";
import { boolean, figure, list, object, type Read, text } from "./parse.ts";
import { VISIT_GAP_MS } from "./visit.ts";

/** An offer or a `clear`: answers that say what a client may hold afterwards. */
export interface AltSvcAnswer {
  readonly atMs: number;
  /** Whose: a keyed hash of host and port. An Alt-Svc speaks for the origin that sent it alone (RFC 7838 section 2). */
  readonly origin: string;
  /** Until when the client keeps the offer, milliseconds since the epoch. 0 for a `clear`. */
  readonly offerUntilMs: number;
  /**
   * What the request shows about an earlier offer. `taken`: it came over HTTP/3. `ignored`: it came over TCP, while the
   * offer was alive and after the client had time to act on it.
   */
  readonly earlierOffer?: "taken" | "ignored" | undefined;
}

/** Origins of this deployment whose offers are remembered of a client. Of a further one the oldest gives way. */
export const ORIGINS_MAX = 8;
/** Three, as one may be chance: some clients do not act on Alt-Svc while they have an open connection. */
const IGNORED_BEFORE_PAUSE = 3;
/** Bounds the list, and so the longest pause: 5 min * 2^7, nearly 11 hours. */
export const IGNORED_MAX = IGNORED_BEFORE_PAUSE + 7;

const readOriginOffers = object({
  /** ANY_ORIGIN: every origin that has no entry of its own. */
  origin: text(64),
  /**
   * The latest end of all offers. A `clear` does not lower it: another browser behind the same address did not see that
   * response.
   */
  untilMs: figure,
  answeredAtMs: figure,
  /** Whether the last answer was an offer: this says which threshold of the hysteresis counts. */
  offering: boolean(),
});
/** What is known about the offers of one origin that a client may hold. */
export type OriginOffers = Read<typeof readOriginOffers>;

export const readOfferState = object({
  /** The newest few, the last answered first. */
  origins: list(readOriginOffers, 0, ORIGINS_MAX),
  /** When this client last came over HTTP/3. 0: never. */
  takenAtMs: figure,
  /** When offers were ignored, rounded down to IGNORED_PERIOD_MS. Only the newest few, in increasing order. */
  ignoredAtMs: list(figure, 0, IGNORED_MAX),
});
/**
 * What is known about the offers that a client may hold, by origin, and what it did with them. That is of its path, whatever the origin:
 * UDP is blocked for all of them or for none. Plain JSON, bounded.
 */
export type OfferState = Read<typeof readOfferState>;

export const NO_OFFER: OfferState = { origins: [], takenAtMs: 0, ignoredAtMs: [] };

/** Stands for each origin that has no entry of its own. */
export const ANY_ORIGIN = "*";

/** A client that acts on an offer completes a handshake within this time, milliseconds (two of the longest RTTs). */
const TIME_TO_ACT_MS = 1_000;
/** Pages that are opened together ignore an offer once. */
const IGNORED_PERIOD_MS = 10_000;
/**
 * The first pause. Browsers try a broken alternative again after five minutes (RFC 7838 section 2.4 lets them choose).
 */
const PAUSE_MS = 300_000;
/**
 * After HTTP/3 was used, an ignored offer shows nothing for this long, milliseconds: it was another browser behind the address, which had
 * no offer yet. If UDP is blocked meanwhile, further offers cost little: a browser that met that marks the alternative as broken itself.
 */
const QUIC_KNOWN_MS = 86_400_000;

/** Adds an answer. The order of arrival does not matter, and an answer that arrives twice counts once. Pure. */
export function applyAnswer(state: OfferState, answer: AltSvcAnswer): OfferState {
  const { origin } = answer;
  const known = offersOf(state, origin);
  const isNewer = answer.atMs >= known.answeredAtMs;
  const answered = {
    origin,
    untilMs: Math.max(known.untilMs, answer.offerUntilMs),
    answeredAtMs: Math.max(known.answeredAtMs, answer.atMs),
    offering: isNewer ? answer.offerUntilMs > 0 : known.offering,
  };
  const takenAtMs = answer.earlierOffer === "taken" ? Math.max(state.takenAtMs, answer.atMs) : state.takenAtMs;
  const ignoredAtMs =
    answer.earlierOffer === "ignored" ? addIgnored(state.ignoredAtMs, answer.atMs) : state.ignoredAtMs;
  return {
    origins: [answered, ...state.origins.filter((one) => one.origin !== origin)]
      .sort((a, b) => b.answeredAtMs - a.answeredAtMs)
      .slice(0, ORIGINS_MAX),
    takenAtMs,
    // The others are never asked for again, and would be news.
    ignoredAtMs: speakingIgnored(ignoredAtMs, takenAtMs),
  };
}

/** What a client may hold of an origin. */
export function offersOf({ origins }: Pick<OfferState, "origins">, origin: string): OriginOffers {
  return (
    origins.find((one) => one.origin === origin) ??
    origins.find((one) => one.origin === ANY_ORIGIN) ?? { origin, untilMs: 0, answeredAtMs: 0, offering: false }
  );
}

/**
 * Adds an answer to those that wait to be applied, without older ones that add nothing to it: what an offer's state becomes by them is
 * the same. Pure.
 */
export function withAnswer(waiting: readonly AltSvcAnswer[], answer: AltSvcAnswer): readonly AltSvcAnswer[] {
  return [...waiting.filter((one) => !isOutdone(one, answer)), answer];
}

function isOutdone(older: AltSvcAnswer, newer: AltSvcAnswer): boolean {
  return (
    older.origin === newer.origin &&
    older.atMs <= newer.atMs &&
    older.offerUntilMs <= newer.offerUntilMs &&
    (older.earlierOffer === undefined ||
      (older.earlierOffer === newer.earlierOffer &&
        (older.earlierOffer === "taken" || ignoredPeriod(older.atMs) === ignoredPeriod(newer.atMs))))
  );
}

/** The beginning of the period in which an offer was ignored, milliseconds since the epoch. */
function ignoredPeriod(atMs: number): number {
  return Math.floor(atMs / IGNORED_PERIOD_MS) * IGNORED_PERIOD_MS;
}

/** A later end of an offer changes the answer if it is later by this much, milliseconds, or by half of what is left of the offer. */
const OFFER_END_MS = 300_000;
/** A later answer counts before the next page would be taken for another visit's. */
const ANSWERED_MS = VISIT_GAP_MS / 2;

/** Whether this state can lead to another answer than the one that is known of a client. Pure. */
export function offersChangeAnswer(known: OfferState, state: OfferState, nowMs: number): boolean {
  return (
    // Also where one that was taken ends a pause.
    state.ignoredAtMs.at(-1) !== known.ignoredAtMs.at(-1) ||
    state.origins.some((one) => originChangesAnswer(offersOf(known, one.origin), one, nowMs))
  );
}

function originChangesAnswer(known: OriginOffers, state: OriginOffers, nowMs: number): boolean {
  // At least a second, so that the end of an offer is no news by itself.
  const halfLeftMs = Math.max(1_000, (state.untilMs - nowMs) / 2);
  return (
    state.offering !== known.offering ||
    state.answeredAtMs >= known.answeredAtMs + ANSWERED_MS ||
    state.untilMs - known.untilMs >= Math.min(OFFER_END_MS, halfLeftMs)
  );
}

function addIgnored(ignoredAtMs: readonly number[], atMs: number): readonly number[] {
  const period = ignoredPeriod(atMs);
  if (ignoredAtMs.includes(period)) return ignoredAtMs;
  return [...ignoredAtMs, period].sort((a, b) => a - b).slice(-IGNORED_MAX);
}

/** Of the times when offers were ignored, those that speak for blocked UDP. @param quicAtMs When HTTP/3 was last used. 0: never. */
function speakingIgnored(ignoredAtMs: readonly number[], quicAtMs: number): readonly number[] {
  return ignoredAtMs.every((atMs) => atMs > quicAtMs + QUIC_KNOWN_MS)
    ? ignoredAtMs
    : ignoredAtMs.filter((atMs) => atMs > quicAtMs + QUIC_KNOWN_MS);
}

/**
 * Until when offers to this client pause, milliseconds since the epoch. 0: they do not. Pauses double.
 *
 * @param quicAtMs When this client was last measured over QUIC, whatever it loaded; 0: never. It shows that UDP is not
 *   blocked, also for browsers that begin each session on TCP.
 */
export function pausedUntilMs({ takenAtMs, ignoredAtMs }: OfferState, quicAtMs = 0): number {
  const ignored = speakingIgnored(ignoredAtMs, Math.max(takenAtMs, quicAtMs));
  const last = ignored.at(-1);
  if (last === undefined || ignored.length < IGNORED_BEFORE_PAUSE) return 0;
  return last + PAUSE_MS * 2 ** (ignored.length - IGNORED_BEFORE_PAUSE);
}

/** What a request to an origin over this transport shows about an offer of it that the client may hold. */
export function earlierOffer(
  transport: "tcp" | "quic",
  state: OfferState,
  origin: string,
  nowMs: number,
): NonNullable<AltSvcAnswer["earlierOffer"]> | undefined {
  if (transport === "quic") return "taken";
  const { offering, untilMs, answeredAtMs } = offersOf(state, origin);
  const hadTime = answeredAtMs + TIME_TO_ACT_MS <= nowMs;
  const mayBeBlocked = nowMs > state.takenAtMs + QUIC_KNOWN_MS;
  return offering && untilMs > nowMs && hadTime && mayBeBlocked ? "ignored" : undefined;
}

/** When a client was last measured over QUIC, milliseconds since the epoch. 0: never. */
export function lastQuicAtMs({ connections = [] }: History, nowMs: number): number {
  return connections.reduce(
    (last, { transport, ageMs }) => (transport === "quic" ? Math.max(last, nowMs - ageMs) : last),
    0,
  );
}
