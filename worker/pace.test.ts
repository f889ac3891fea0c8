import { describe, expect, it } from "vitest";
import { HOLD_MS, Pace, PROMISE_LOST_MS } from "./pace.ts";

const T = 1e12;
const EVERY_MS = 20_000;

it("what never left is due at once, and promised by one alone", () => {
  const pace = new Pace(EVERY_MS);
  expect([pace.promise(T), pace.promise(T), pace.promise(T + PROMISE_LOST_MS - 1)]).toEqual([0, undefined, undefined]);
});

it("the next one is due when its time is over, and again if its request has died", () => {
  const pace = new Pace(EVERY_MS);
  pace.leave(T);
  expect(pace.promise(T + 5_000)).toBe(15_000);
  expect(pace.promise(T + EVERY_MS + PROMISE_LOST_MS - 1)).toBeUndefined();
  expect(pace.promise(T + EVERY_MS + PROMISE_LOST_MS)).toBe(0);
});

it("a kept promise makes room for another, and one for later stays", () => {
  const pace = new Pace(EVERY_MS);
  pace.promise(T);
  pace.keep(T);
  expect(pace.promise(T)).toBe(0);
  pace.keep(T);
  pace.leave(T);
  expect(pace.promise(T + 1)).toBe(EVERY_MS - 1);
  // Somebody else came first.
  pace.keep(T + 2);
  expect(pace.promise(T + 3)).toBeUndefined();
});

it("after the clock was set back it is due at once", () => {
  const pace = new Pace(EVERY_MS);
  pace.leave(T);
  pace.promise(T);
  expect(pace.promise(T - 1e9)).toBe(0);
});

describe("a pace that gathers", () => {
  it("waits from the first piece on, and the next time from the first piece after it left", () => {
    const pace = new Pace(EVERY_MS, true);
    expect([pace.promise(T), pace.promise(T + 1), pace.promise(T + EVERY_MS - 1)]).toEqual([
      EVERY_MS,
      undefined,
      undefined,
    ]);
    expect(pace.isTakenOver(T + EVERY_MS)).toBe(false);
    pace.leave(T + EVERY_MS);
    expect(pace.promise(T + EVERY_MS + 1)).toBe(EVERY_MS);
  });

  it("waits for longer than one request may hold it while others take it over, and leaves at the latest when it is due", () => {
    const pace = new Pace(60_000, true);
    expect(pace.promise(T)).toBe(HOLD_MS);
    // Too early to take over.
    expect(pace.promise(T + 9_000)).toBeUndefined();
    expect(pace.promise(T + 20_000)).toBe(HOLD_MS);
    expect(pace.isTakenOver(T + HOLD_MS)).toBe(true);
    expect(pace.promise(T + 40_000)).toBe(20_000);
    expect(pace.isTakenOver(T + 45_000)).toBe(true);
    expect(pace.promise(T + 59_000)).toBeUndefined();
    expect(pace.isTakenOver(T + 60_000)).toBe(false);
  });

  it("leaves with the last that holds it if nobody takes over", () => {
    const pace = new Pace(60_000, true);
    pace.promise(T);
    expect(pace.isTakenOver(T + HOLD_MS)).toBe(false);
  });

  it("is held by the next one after its request has died, and for no longer than the caller wants", () => {
    const pace = new Pace(EVERY_MS, true);
    pace.promise(T);
    expect(pace.promise(T + EVERY_MS)).toBe(0);
    pace.leave(T + EVERY_MS);
    expect(pace.promise(T + EVERY_MS + 1, 8_000)).toBe(8_000);
  });

  it("begins anew after the clock was set back", () => {
    const pace = new Pace(EVERY_MS, true);
    pace.promise(T);
    expect(pace.promise(T - 1e9)).toBe(EVERY_MS);
    expect(pace.isTakenOver(T - 2e9)).toBe(false);
  });
});
