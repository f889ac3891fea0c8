import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { fixed, probe, startTestSystem } from "./harness.ts";
import { metricsOf } from "./metrics-of.ts";

it("the worker's metrics are what Prometheus takes", async () => {
  const system = await startTestSystem();
  await system.putPolicy(fixed("fixed-h3"));
  await probe(system, "h2", [`https://localhost:${system.port}/`], ["-header", "Accept: text/html"]);
  const text = await metricsOf(system);
  expect(text).toContain('adaptive_h3_origin_total{answer="served"} 1');
  // It says what is wrong, and nothing otherwise.
  expect(execFileSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" })).toBe("");
});
