/** One answer that a client's later behaviour depends on: an offer, or a `clear`. */
export interface Answer {
  readonly atMs: number;
  /** Until when the offer lives in the client, milliseconds since the epoch; 0 when it was taken back. */
  readonly offerUntilMs: number;
  /**
   * What the request told of an offer made before: `taken` came over HTTP/3; `ignored` over TCP, though the offer lived
   * and the client had had time to act on it.
   */
  readonly earlierOffer?: "taken" | "ignored" | undefined;
}

/** What a client may hold of our offers. Plain JSON, bounded. */
export interface OfferState {
  /**
   * The latest end of any offer made. A `clear` does not lower it: another browser behind the same address did not
   * see that response.
   */
  readonly untilMs: number;
  readonly answeredAtMs: number;
  /** Whether the last answer was an offer: the side of the hysteresis on which this client stands. */
  readonly offering: boolean;
  /** When this client last came over HTTP/3; 0: never. */
  readonly takenAtMs: number;
  /** When offers were ignored, by periods of IGNORED_PERIOD_MS, the newest few in increasing order. */
  readonly ignoredAtMs: readonly number[];
}

export const NO_OFFER: OfferState = { untilMs: 0, answeredAtMs: 0, offering: false, takenAtMs: 0, ignoredAtMs: [] };

/** A client that acts on an offer has had its handshake after this long, milliseconds (two of the longest RTTs). */
const TIME_TO_ACT_MS = 1_000;
/** Pages opened together ignore an offer once. */
const IGNORED_PERIOD_MS = 10_000;
/** Some clients never look at Alt-Svc on a connection that they have: three in a row are no accident. */
const IGNORED_BEFORE_PAUSE = 3;
/** The first pause: browsers try a broken alternative again after five minutes (RFC 7838 section 2.4 leaves it to them). */
const PAUSE_MS = 300_000;
/** Bounds the list, and so the longest pause: 5 min * 2^7, most of a day. */
export const IGNORED_MAX = IGNORED_BEFORE_PAUSE + 7;

/** Adds an answer. Pure; the order of arrival does not matter, and arriving twice changes nothing. */
export function applyAnswer(state: OfferState, answer: Answer): OfferState {
  const newer = answer.atMs >= state.answeredAtMs;
  return {
    untilMs: Math.max(state.untilMs, answer.offerUntilMs),
    answeredAtMs: Math.max(state.answeredAtMs, answer.atMs),
    offering: newer ? answer.offerUntilMs > 0 : state.offering,
    takenAtMs: answer.earlierOffer === "taken" ? Math.max(state.takenAtMs, answer.atMs) : state.takenAtMs,
    ignoredAtMs: answer.earlierOffer === "ignored" ? addIgnored(state.ignoredAtMs, answer.atMs) : state.ignoredAtMs,
  };
}

function addIgnored(ignoredAtMs: readonly number[], atMs: number): readonly number[] {
  const period = Math.floor(atMs / IGNORED_PERIOD_MS) * IGNORED_PERIOD_MS;
  if (ignoredAtMs.includes(period)) return ignoredAtMs;
  return [...ignoredAtMs, period].sort((a, b) => a - b).slice(-IGNORED_MAX);
}

/**
 * Until when offers to this client pause, milliseconds since the epoch; 0: they do not. Pauses double.
 *
 * @param quicAtMs When this client was last measured over QUIC, whatever it loaded: some forget offers between sessions
 *   and begin each on TCP, others share the address. UDP is not blocked for them. 0: never.
 */
export function pausedUntilMs({ takenAtMs, ignoredAtMs }: OfferState, quicAtMs = 0): number {
  const since = Math.max(takenAtMs, quicAtMs);
  const ignored = ignoredAtMs.filter((atMs) => atMs > since);
  const last = ignored.at(-1);
  if (last === undefined || ignored.length < IGNORED_BEFORE_PAUSE) return 0;
  return last + PAUSE_MS * 2 ** (ignored.length - IGNORED_BEFORE_PAUSE);
}

/** What a request over a transport tells of an offer that this client may hold. */
export function earlierOffer(
  transport: "tcp" | "quic",
  state: OfferState,
  nowMs: number,
): NonNullable<Answer["earlierOffer"]> | undefined {
  if (transport === "quic") return "taken";
  const hadTime = state.answeredAtMs + TIME_TO_ACT_MS <= nowMs;
  return state.offering && state.untilMs > nowMs && hadTime ? "ignored" : undefined;
}
