import { expect, it } from "vitest";
import { parsePolicy } from "../../policy-api/core/parse-policy.ts";
import { firstPolicy } from "./first-policy.ts";

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
  expect(parsePolicy(JSON.parse(JSON.stringify(policy)))).toMatchObject({ ok: true });
});
