import { expect, it } from "vitest";
import type { Explanation } from "../api/contract/decisions.ts";
import { explanationText } from "./explanation-text.ts";

const worth: Explanation["decision"] = {
  advertise: { kind: "nothing" },
  mode: "adaptive",
  reason: "h2-faster",
  rttMs: 20,
  contentBytes: 1_000_000,
  belief: { weights: [0.6, 0.3, 0, 0, 0.004, 0.096], quicAlone: 0.09, packets: { tcp: 700, quic: 0 } },
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
  return Object.fromEntries(lines.map((line) => [line.slice(0, 9).trim(), line.slice(9)]));
}

it("tells gains as speeds, and what an offer changes", () => {
  expect(linesOf()).toMatchObject({
    policy: "version 2 (revision 3), adaptive on /shop/",
    likely: "no loss: 60 %, loss 0.1 %: 30 %, loss 5 %: 9.6 %; the network drops packets of QUIC alone: 9 %",
    gains:
      "at 20 ms, 1 MB: a next page 10 % slower (give or take 20 %); a return 5 % faster (give or take 0 %); " +
      "this page 20 % slower; its own loads count in both: 4 % slower",
    worth: "25 % slower (give or take 10.5 %) for each of 1.2 next pages and 0.05 returns, this page counted in",
    chance: "95 % that this policy gives this answer here",
  });
});

it.each([
  [{ tcp: 4.3, quic: 0 }, "only 4 packets of its own can tell"],
  [{ tcp: 0, quic: 0 }, "no packet of its own can tell"],
])("says that a loss is a prior where few packets were counted: %j", (packets, why) => {
  const belief = { weights: [0.6, 0.3, 0, 0, 0, 0.1], quicAlone: 0, packets };
  expect(linesOf({ decision: { ...worth, belief } })["likely"]).toBe(
    `no loss: 60 %, loss 0.1 %: 30 %, loss 5 %: 10 %; this is mostly what others lose, as ${why}`,
  );
});

it.each<[string, Partial<typeof worth>, string | undefined]>([
  ["one page", { pages: 1, returns: 0, price: 0 }, "25 % slower (give or take 10.5 %) for each of 1 next page"],
  ["a return alone", { pages: 0, returns: 1, price: 0 }, "25 % slower (give or take 10.5 %) for each of 1 return"],
  ["nothing", { pages: 0, returns: 0 }, "nothing: an offer changes no page"],
])("what an offer of %s is worth", (_name, over, text) => {
  expect(linesOf({ decision: { ...worth, ...over } })["worth"]).toBe(text);
});

it("tells nothing of gains where none were reckoned", () => {
  const decision = { ...worth, reason: "not-measured" as const };
  for (const name of ["belief", "next", "saving"] as const) delete decision[name];
  const lines = linesOf({ decision });
  expect(Object.keys(lines)).toEqual(["header", "reason", "policy", "request", "known", "chance"]);
  expect(lines["reason"]).toMatch(/^not-measured: nobody has measured /);
});

const clients = [3, 0, 0, 0, 0, 1];
it.each<[string, Explanation["history"], string]>([
  ["nobody", { state: "unknown" }, "nothing"],
  ["a late look-up", { state: "late" }, "the look-up came too late"],
  ["a level without clients", { state: "known", network: [0, 0, 0, 0, 0, 1e-9] }, "nothing"],
  [
    "connections over both, and the levels",
    {
      state: "known",
      connections: [
        { transport: "tcp", ageMs: 0, packets: 1_000, lost: 10 },
        { transport: "quic", ageMs: 0, packets: 0, lost: 0 },
        { transport: "tcp", ageMs: 0, packets: 1, lost: 0 },
      ],
      network: clients,
      site: clients.map((n) => n * 100),
    },
    "2 connections over TCP (10 of 1,001 packets lost); 1 connection over QUIC (packets not counted); " +
      "network (4 clients' worth; no loss: 75 %, loss 5 %: 25 %); site (400 clients' worth, where a network counts for 4 at most; no loss: 75 %, loss 5 %: 25 %)",
  ],
])("what is known of %s", (_name, history, text) => {
  expect(linesOf({ history })["known"]).toBe(text);
});
