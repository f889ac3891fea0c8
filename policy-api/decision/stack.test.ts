import { expect, it } from "vitest";
import cubic from "../policies/cubic.json" with { type: "json" };
import bbr from "../policies/quiche-bbr2/bbr.json" with { type: "json" };
import unknownStack from "../policies/unknown-stack.json" with { type: "json" };
import { INITIAL_POLICY, type Policy } from "./policy.ts";
import { matchStack, type Stack } from "./stack.ts";

const CUBIC = cubic as unknown as Policy;
const { quic: _, ...named } = cubic.provenance;
/** As policies were before they named their QUIC. */
const OLDER: Policy = { ...CUBIC, provenance: named };
const OBSERVED: Policy = { ...CUBIC, mode: "observe" };

const of = (tcp: string, quic: string | null = "quic-go"): Stack => ({ tcp, quic });

it.each<[string, Policy, Stack | null, string]>([
  ["the same stack", CUBIC, of("cubic"), "same"],
  ["another TCP", CUBIC, of("bbr"), "differs: tcp"],
  ["another QUIC", CUBIC, of("cubic", "quiche-cubic"), "differs: quic"],
  ["another of both", bbr as unknown as Policy, of("cubic"), "differs: tcp, quic"],
  ["an edge without HTTP/3", CUBIC, of("cubic", null), "same"],
  ["a policy that names no QUIC", OLDER, of("cubic", "quiche-bbr2"), "same"],
  ["the same, and another TCP", OLDER, of("bbr", "quiche-bbr2"), "differs: tcp"],
  ["reno, for which nothing was measured, and cubic's policy", CUBIC, of("reno"), "same"],
  ["reno, and bbr's policy", { ...(bbr as unknown as Policy) }, of("reno", "quiche-bbr2"), "differs: tcp"],
  ["a congestion control that nobody knows", CUBIC, of("dctcp"), "differs: tcp"],
  ["no stack known, as on Cloudflare", CUBIC, null, "unknown"],
  ["a policy that names no stack", unknownStack as unknown as Policy, of("bbr"), "unknown"],
  ["a policy that observes", OBSERVED, of("bbr"), "unknown"],
  ["the initial policy", INITIAL_POLICY, of("bbr"), "unknown"],
  [
    "a policy that is adaptive in a rule",
    { ...OBSERVED, rules: [{ pathPrefix: "/shop/", mode: "adaptive" }] },
    of("bbr"),
    "differs: tcp",
  ],
])("%s", (_name, policy, serving, expected) => {
  const match = matchStack(policy, serving);
  expect(match.kind === "differs" ? `differs: ${match.parts.join(", ")}` : match.kind).toBe(expected);
});

it("says of which stack the policy is, and which one serves", () => {
  expect(matchStack(CUBIC, of("bbr"))).toMatchObject({
    text: "was made for TCP with cubic beside quic-go, and TCP with bbr beside quic-go serves",
  });
  expect(matchStack(OLDER, of("bbr", null))).toMatchObject({
    text: "was made for TCP with cubic, and TCP with bbr serves",
  });
});
