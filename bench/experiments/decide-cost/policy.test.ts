import { expect, it } from "vitest";
import { decide } from "../../../policy-api/core/decide.ts";
import { parsePolicy } from "../../../policy-api/core/parse-policy.ts";
import { inputsOver, NOW_MS } from "./inputs.ts";
import { measuredPolicy, syntheticPolicy } from "./policy.ts";

it("the synthetic policy is one that the worker would take", () => {
  expect(parsePolicy(JSON.parse(JSON.stringify(syntheticPolicy()))).ok).toBe(true);
  expect(measuredPolicy("/nowhere/cubic.json").name).toBe("synthetic");
});

it("every input is decided by times, of what both transports measured", () => {
  const { policy, tcp } = measuredPolicy("/nowhere/cubic.json");
  for (const { request, history, explorationUnit } of inputsOver(tcp, 64, 1)) {
    const decision = decide(request, history, policy, NOW_MS, explorationUnit);
    expect(decision.basis).toBe("client");
    expect(decision.saving).not.toBeNaN();
  }
});
