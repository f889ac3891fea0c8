import bbr from "../../policy-api/policies/bbr.json" with { type: "json" };
import cubic from "../../policy-api/policies/cubic.json" with { type: "json" };
import { expect, it } from "vitest";
import { decide } from "../../policy-api/decision/decide.ts";
import { parsePolicy } from "../../policy-api/decision/policy.ts";
import { emulatedPolicy, firstPolicy, firstPolicyForVisitors } from "./first-policy.ts";

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

const REPORTS = { share: 1, inject: true };

const { provenance: _, ...gains } = cubic;
const emulated = { ...gains, source: "as by a server with cubic, for pages as if on another network" };

it("the policies are as shipped, and pages report; those of emulated visitors name no stack", () => {
  expect(firstPolicy("bbr")).toEqual({ ...bbr, reports: REPORTS });
  expect(firstPolicy("cubic")).toEqual({ ...cubic, reports: REPORTS });
  expect(firstPolicyForVisitors()).toEqual({
    ...emulated,
    source: "as by a server with cubic; most clients draw, to compare both",
    exploration: { share: 0.7 },
    reports: REPORTS,
  });
  expect(emulatedPolicy()).toEqual(emulated);
  expect(cubic.reports.share).toBe(0);
});

it.each(["cubic", "bbr"])("over this machine's loopback a demonstration with %s says that HTTP/2 is faster", (name) => {
  const clean = { transport: "tcp", ageMs: 0, packets: 400, lost: 0, rttMs: 0.1 } as const;
  const request = { transport: "tcp", path: "/", rttMs: 0.02 } as const;
  const history = { state: "known", connections: [clean] } as const;
  expect(decide(request, history, firstPolicy(name), Date.now(), undefined)).toMatchObject({
    advertise: { kind: "nothing" },
    reason: "h2-faster",
  });
});
