import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AltSvcAnswer,
  ANY_ORIGIN,
  applyAnswer,
  earlierOffer,
  IGNORED_MAX,
  NO_OFFER,
  type OfferState,
  offersOf,
  ORIGINS_MAX,
  pausedUntilMs,
  withAnswer,
} from "./offers.ts";
import { HOUR_MS, NOON_MS } from "./testing.ts";

const MINUTE_MS = 60_000;
const DAY_S = 86_400;
const offer: AltSvcAnswer = { origin: "a", atMs: NOON_MS, offerUntilMs: NOON_MS + 100 };
const clear: AltSvcAnswer = { origin: "a", atMs: NOON_MS + 20, offerUntilMs: 0 };
/** A further offer to a client that ignored or took the one before, this many seconds after noon. */
const ignoredAt = (s: number): AltSvcAnswer => told("ignored", s);
const takenAt = (s: number): AltSvcAnswer => told("taken", s);
function told(earlier: AltSvcAnswer["earlierOffer"], s: number): AltSvcAnswer {
  const atMs = NOON_MS + s * 1000;
  return { origin: "a", atMs, offerUntilMs: atMs + MINUTE_MS, earlierOffer: earlier };
}
const after = (answers: readonly AltSvcAnswer[]): OfferState => answers.reduce(applyAnswer, NO_OFFER);

describe("what a client may hold", () => {
  it("a clear ends the offering, not the life of an offer that another browser may hold", () => {
    expect(after([offer, clear]).origins).toEqual([
      { origin: "a", untilMs: NOON_MS + 100, answeredAtMs: NOON_MS + 20, offering: false },
    ]);
  });

  it("is as short as the longest offer made", () => {
    const shorter = { ...offer, atMs: NOON_MS + 1, offerUntilMs: NOON_MS + 50 };
    expect(after([offer, shorter]).origins).toMatchObject([{ untilMs: NOON_MS + 100, offering: true }]);
  });

  it("is of one origin: an offer on another changes nothing of it", () => {
    const state = after([offer, { ...clear, origin: "b" }]);
    expect(offersOf(state, "a")).toMatchObject({ untilMs: NOON_MS + 100, answeredAtMs: NOON_MS, offering: true });
    expect(offersOf(state, "b")).toMatchObject({ untilMs: 0, answeredAtMs: NOON_MS + 20, offering: false });
    expect(offersOf(state, "c")).toMatchObject({ untilMs: 0, answeredAtMs: 0, offering: false });
    expect(earlierOffer("tcp", state, "a", NOON_MS + 99)).toBeUndefined();
    const later = applyAnswer(state, { ...offer, offerUntilMs: NOON_MS + HOUR_MS });
    expect(["a", "b", "c"].map((origin) => earlierOffer("tcp", later, origin, NOON_MS + 5_000))).toEqual([
      "ignored",
      undefined,
      undefined,
    ]);
    // But that UDP comes through is of the path.
    const taken = applyAnswer(later, { ...takenAt(1), origin: "c" });
    expect(earlierOffer("tcp", taken, "a", NOON_MS + 5_000)).toBeUndefined();
  });

  it("is of few origins: that which was answered longest ago gives way", () => {
    const many = Array.from({ length: 2 * ORIGINS_MAX }, (_, i) => ({ ...offer, origin: `${i}`, atMs: NOON_MS + i }));
    const state = after(many);
    expect(state.origins.map(({ origin }) => Number(origin))).toEqual([15, 14, 13, 12, 11, 10, 9, 8]);
  });

  it("of a row of before origins were told apart, is of all of them until they are answered", () => {
    const before = { ...NO_OFFER, origins: after([{ ...offer, origin: ANY_ORIGIN }]).origins };
    expect(offersOf(before, "a")).toMatchObject({ untilMs: NOON_MS + 100, offering: true });
    const answered = applyAnswer(before, clear);
    expect(offersOf(answered, "a")).toMatchObject({ untilMs: NOON_MS + 100, offering: false });
    expect(offersOf(answered, "b")).toMatchObject({ untilMs: NOON_MS + 100, offering: true });
  });
});

describe("what a request tells of an earlier offer", () => {
  const held = after([{ ...offer, offerUntilMs: NOON_MS + MINUTE_MS }]);
  const cases: [string, "tcp" | "quic", OfferState, number, AltSvcAnswer["earlierOffer"]][] = [
    ["over HTTP/3", "quic", held, 5_000, "taken"],
    ["over HTTP/3, of an offer nobody remembers", "quic", NO_OFFER, 5_000, "taken"],
    ["over TCP", "tcp", held, 5_000, "ignored"],
    ["over TCP as soon as the client had had time to act", "tcp", held, 1_000, "ignored"],
    ["over TCP before that", "tcp", held, 999, undefined],
    ["over TCP when the offer has ended", "tcp", held, MINUTE_MS, undefined],
    ["over TCP when it was taken back", "tcp", applyAnswer(held, { ...clear, atMs: NOON_MS + 1 }), 5_000, undefined],
    ["over TCP when none was made", "tcp", NO_OFFER, 5_000, undefined],
    ["over TCP, where another browser has used it", "tcp", { ...held, takenAtMs: NOON_MS - HOUR_MS }, 5_000, undefined],
  ];
  it.each(cases)("%s", (_name, transport, state, ms, expected) => {
    expect(earlierOffer(transport, state, "a", NOON_MS + ms)).toBe(expected);
  });
});

describe("pauses", () => {
  const everyTenSeconds = (count: number): AltSvcAnswer[] => Array.from({ length: count }, (_, i) => ignoredAt(10 * i));
  const cases: [string, readonly AltSvcAnswer[], number | undefined][] = [
    ["nobody ignored anything", [offer, clear], undefined],
    ["ignored twice is an accident", everyTenSeconds(2), undefined],
    ["three times: five minutes", everyTenSeconds(3), 20 + 5 * 60],
    ["four times: ten", everyTenSeconds(4), 30 + 10 * 60],
    ["five times: twenty", everyTenSeconds(5), 40 + 20 * 60],
    ["pages opened together ignore once", [0, 1, 2, 3, 9].map(ignoredAt), undefined],
    ["a client that came over HTTP/3 since has none", [...everyTenSeconds(3), takenAt(21)], undefined],
    ["nor others behind its address for a day", [takenAt(0), ...[10, 40_000, DAY_S].map(ignoredAt)], undefined],
    ["and then it begins to count", [takenAt(0), ...[10, 20, DAY_S + 10, DAY_S + 20].map(ignoredAt)], undefined],
    ["anew", [takenAt(0), ...[10, 20, 30].map((s) => ignoredAt(DAY_S + s))], DAY_S + 30 + 5 * 60],
  ];
  it.each(cases)("%s", (_name, answers, seconds) => {
    expect(pausedUntilMs(after(answers))).toBe(seconds === undefined ? 0 : NOON_MS + seconds * 1000);
  });

  it("a client that was measured over QUIC within a day has none", () => {
    const state = after(everyTenSeconds(3));
    expect(pausedUntilMs(state, NOON_MS - DAY_S * 1000)).toBe(0);
    expect(pausedUntilMs(state, NOON_MS - DAY_S * 1000 - 1)).toBeGreaterThan(0);
  });

  it("double up to most of a day, however often offers are ignored", () => {
    const lengths = Array.from({ length: 30 }, (_, i) => {
      const state = after(everyTenSeconds(i + 1));
      return Math.max(0, pausedUntilMs(state) - (NOON_MS + i * 10_000)) / MINUTE_MS;
    });
    expect(lengths.slice(0, 11)).toEqual([0, 0, 5, 10, 20, 40, 80, 160, 320, 640, 640]);
    expect(Math.max(...lengths)).toBe(640);
    expect(after(everyTenSeconds(30)).ignoredAtMs).toHaveLength(IGNORED_MAX);
  });
});

it("neither the order of arrival nor arriving twice changes anything", () => {
  // One answer at each moment: of two in the same millisecond, neither is the last.
  const anyAnswers = fc.uniqueArray(
    fc.record({
      atMs: fc.oneof(
        fc.integer({ min: NOON_MS, max: NOON_MS + 600_000 }),
        fc.integer({ min: NOON_MS, max: NOON_MS + 3 * DAY_S * 1000 }),
      ),
      origin: fc.constantFrom("a", "b"),
      offerUntilMs: fc.oneof(fc.constant(0), fc.integer({ min: NOON_MS, max: NOON_MS + 900_000 })),
      earlierOffer: fc.constantFrom("taken" as const, "ignored" as const, undefined),
    }),
    { selector: ({ atMs }) => atMs, maxLength: 40 },
  );
  const shuffledWithRepeats = anyAnswers.chain((answers) =>
    fc.tuple(
      fc.constant(answers),
      fc
        .subarray(answers)
        .chain((repeats) =>
          fc.shuffledSubarray([...answers, ...repeats], { minLength: answers.length + repeats.length }),
        ),
    ),
  );
  fc.assert(
    fc.property(shuffledWithRepeats, ([answers, arrived]) => {
      const state = after(answers);
      expect(after(arrived)).toEqual(state);
      expect(pausedUntilMs(after(arrived))).toBe(pausedUntilMs(state));
    }),
  );
});

describe("answers that wait", () => {
  const waiting = (answers: readonly AltSvcAnswer[]) => answers.reduce(withAnswer, [] as readonly AltSvcAnswer[]);

  it("are few, however many pages a client opens", () => {
    const pages = Array.from({ length: 1_000 }, (_, i): AltSvcAnswer => {
      const atMs = NOON_MS + i;
      return { origin: "a", atMs, offerUntilMs: atMs + HOUR_MS, earlierOffer: i % 2 === 0 ? "taken" : undefined };
    });
    expect(waiting(pages).length).toBeLessThanOrEqual(2);
  });

  it("leave an offer's state as it would be if all had been kept", () => {
    const anyAnswer = fc.record({
      atMs: fc.integer({ min: NOON_MS, max: NOON_MS + 60_000 }),
      origin: fc.constantFrom("a", "b"),
      offerUntilMs: fc.oneof(fc.constant(0), fc.integer({ min: NOON_MS, max: NOON_MS + 90_000 })),
      earlierOffer: fc.constantFrom("taken" as const, "ignored" as const, undefined),
    });
    fc.assert(
      fc.property(fc.array(anyAnswer, { maxLength: 20 }), fc.array(anyAnswer, { maxLength: 5 }), (answers, held) => {
        const state = after(held);
        expect(waiting(answers).reduce(applyAnswer, state)).toEqual(answers.reduce(applyAnswer, state));
      }),
    );
  });
});
