import { expect, it } from "vitest";
import type { Explanation } from "../api/contract/decisions.ts";
import { explanationText } from "./explanation-text.ts";

const worth: Explanation["decision"] = {
  advertise: { kind: "nothing" },
  mode: "adaptive",
  reason: "h2-faster",
  rttMs: 20,
  contentBytes: 1_000_000,
  lossRatio: 0.0125,
  quicAlone: 0.09,
  next: { gain: Math.log(0.9), deviation: Math.log(1.2) },
  return: { gain: Math.log(1.05), deviation: 0 },
  price: Math.log(1.25),
  ownShift: Math.log(0.96),
  pages: 1.234,
  returns: 0.05,
  saving: { gain: Math.log(0.75), deviation: 0.1 },
  propensity: 0.95,
};
function linesOf(over: Partial<Explanation> = {}, isLookedUp = false): Record<string, string> {
  const explanation: Explanation = {
    revision: 3,
    policyVersion: 2,
    request: { transport: "tcp", path: "/shop/" },
    history: { state: "unknown" },
    decision: worth,
    altSvc: null,
    ...over,
  };
  const lines = explanationText(explanation, isLookedUp).split("\n");
  return Object.fromEntries(lines.map((line) => line.split(/ {2,}/)));
}

it("tells gains as speeds, and what an offer changes", () => {
  expect(linesOf()).toMatchObject({
    header: "no alt-svc: the response stays as it is",
    policy: "version 2 (revision 3), in mode adaptive on /shop/",
    loss: "1.25 % of all packets; the chance that the network drops packets of QUIC alone is 9 %",
    "over HTTP/3":
      "with an RTT of 20 ms and pages of 1 MB: the next page of this visit is 10 % slower (give or take 20 %); " +
      "a later visit's page is 5 % faster (give or take 0 %); to offer it makes this page 20 % slower; " +
      "both count this client's own loads: 4 % slower",
    "an offer":
      "changes 1.2 next pages and 0.05 later visits, on average, and makes each of them 25 % slower (give or take 10.5 %), this page's loss counted in",
    chance: "95 % that this policy gives this answer here",
  });
});

it("says where too few packets were counted to know a loss", () => {
  expect(linesOf({ decision: { ...worth, lossRatio: undefined, quicAlone: 0 } })["loss"]).toBe(
    "not known: too few packets were counted",
  );
});

it.each<[string, Partial<typeof worth>, string | undefined]>([
  [
    "one page",
    { pages: 1, returns: 0, price: 0 },
    "changes 1 next page, on average, and makes each of them 25 % slower (give or take 10.5 %)",
  ],
  [
    "a return alone",
    { pages: 0, returns: 1, price: 0 },
    "changes 1 later visit, on average, and makes each of them 25 % slower (give or take 10.5 %)",
  ],
  ["nothing", { pages: 0, returns: 0 }, "changes no page"],
])("what an offer of %s is worth", (_name, over, text) => {
  expect(linesOf({ decision: { ...worth, ...over } })["an offer"]).toBe(text);
});

it("tells of a drawn answer what it would be without the draw", () => {
  const decision = { ...worth, reason: "exploration" as const };
  const undrawn = { reason: "quic-loses" as const, altSvc: "clear" };
  expect(linesOf({ decision, undrawn })["without the draw"]).toBe(
    "alt-svc: clear (nothing is offered, and an earlier offer may still live); quic-loses: most likely the network drops packets of QUIC alone",
  );
  expect(linesOf()).not.toHaveProperty("without the draw");
});

it("tells nothing of gains where none were reckoned", () => {
  const decision = { ...worth, reason: "not-measured" as const };
  for (const name of ["next", "saving"] as const) delete decision[name];
  const lines = linesOf({ decision });
  expect(Object.keys(lines)).toEqual(["header", "reason", "policy", "request", "known", "chance"]);
  expect(lines["reason"]).toMatch(/^not-measured: nobody has measured /);
});

it.each<[string, Explanation["history"], string]>([
  ["nobody", { state: "unknown" }, "nothing"],
  ["a late look-up", { state: "late" }, "the look-up came too late"],
  [
    "connections over both",
    {
      state: "known",
      connections: [
        { transport: "tcp", ageMs: 0, packets: 1_000, lost: 10 },
        { transport: "quic", ageMs: 0, packets: 0, lost: 0 },
        { transport: "tcp", ageMs: 0, packets: 1, lost: 0 },
      ],
    },
    "2 connections over TCP (10 of 1,001 packets lost); 1 connection over QUIC (packets not counted)",
  ],
])("what is known of %s", (_name, history, text) => {
  expect(linesOf({ history })["known"]).toBe(text);
});
