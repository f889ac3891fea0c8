/** One answer that a client's later behaviour depends on: an offer, or a `clear`. */
export interface Answer {
  readonly atMs: number;
  /** Until when the offer lives in the client, milliseconds since the epoch; 0 when it was taken back. */
  readonly offerUntilMs: number;
}

/** What a client may hold of our offers. Plain JSON. */
export interface OfferState {
  /**
   * The latest end of any offer made. A `clear` does not lower it: another browser behind the same address did not
   * see that response.
   */
  readonly untilMs: number;
  readonly answeredAtMs: number;
  /** Whether the last answer was an offer: the side of the hysteresis on which this client stands. */
  readonly offering: boolean;
}

export const NO_OFFER: OfferState = { untilMs: 0, answeredAtMs: 0, offering: false };

/** Adds an answer. Pure; the order of arrival does not matter, and arriving twice changes nothing. */
export function applyAnswer(state: OfferState, answer: Answer): OfferState {
  const newer = answer.atMs >= state.answeredAtMs;
  return {
    untilMs: Math.max(state.untilMs, answer.offerUntilMs),
    answeredAtMs: Math.max(state.answeredAtMs, answer.atMs),
    offering: newer ? answer.offerUntilMs > 0 : state.offering,
  };
}
