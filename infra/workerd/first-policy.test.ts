import { expect, it } from "vitest";
import { decide } from "../../policy-api/core/decide.ts";
import { parsePolicy } from "../../policy-api/reading/parse-policy.ts";
import cubic from "../../policy-api/policies/cubic.json" with { type: "json" };
import { firstPolicy, firstPolicyForVisitors } from "./first-policy.ts";

it.each([
  ["cubic", "adaptive", "cubic"],
  ["reno", "adaptive", "cubic"],
  ["bbr", "adaptive", "bbr"],
  ["dctcp", "observe", undefined],
  ["", "observe", undefined],
])("with congestion control %j a demonstration starts in %s", (congestionControl, mode, calibratedFor) => {
  const policy = firstPolicy(congestionControl);
  expect(policy.mode).toBe(mode);
  expect(policy.provenance?.congestionControl).toBe(calibratedFor);
  expect(policy.reports).toEqual({ share: 1, inject: true });
  expect(parsePolicy(JSON.parse(JSON.stringify(policy)))).toMatchObject({ ok: true });
});

it.each(["cubic", "bbr"])("over a clean local path a demonstration with %s shows an offer", (congestionControl) => {
  const policy = firstPolicy(congestionControl);
  const clean = { transport: "tcp", ageMs: 0, packets: 10_000, lost: 0, rttMs: 0.1 } as const;
  for (const history of [{ state: "unknown" }, { state: "known", connections: [clean] }] as const) {
    const { advertise } = decide({ transport: "tcp", path: "/", rttMs: 0.1 }, history, policy, Date.now(), undefined);
    expect(advertise.kind).toBe("h3");
  }
});

it("visitors who are not there are answered by a policy as it is shipped", () => {
  const policy = firstPolicyForVisitors();
  expect(parsePolicy(JSON.parse(JSON.stringify(policy)))).toMatchObject({ ok: true });
  expect(policy).toMatchObject({ margin: cubic.margin, reports: { share: 1, inject: true } });
});
