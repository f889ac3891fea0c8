import { expect, it } from "vitest";
import { Pace, PROMISE_LOST_MS } from "./pace.ts";

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
