import { expect, it } from "vitest";
import { applyAnswer, NO_OFFER } from "./offers.ts";

const offer = { atMs: 10, offerUntilMs: 100 };
const clear = { atMs: 20, offerUntilMs: 0 };

it("a clear ends the offering, not the life of an offer that another browser may hold", () => {
  expect(applyAnswer(applyAnswer(NO_OFFER, offer), clear)).toEqual({ untilMs: 100, answeredAtMs: 20, offering: false });
});

it("does not depend on the order of arrival, nor on arriving twice", () => {
  const inOrder = [offer, clear].reduce(applyAnswer, NO_OFFER);
  expect([clear, offer, clear].reduce(applyAnswer, NO_OFFER)).toEqual(inOrder);
});
