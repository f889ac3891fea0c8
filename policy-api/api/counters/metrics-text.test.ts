import { expect, it } from "vitest";
import { FAMILIES } from "./families.ts";
import { metricsText } from "./metrics-text.ts";

const text = metricsText({ "offers|taken": 12, "origin|error": 1, undecided: 3, other: 4 }, [
  { name: "kill_switch", help: "Whether it is on", values: [{ labels: {}, value: 0 }] },
  { name: "version_share", help: "Shares", values: [{ labels: { version: 'a"\\\n' }, value: 0.05 }] },
]);
const lines = text.split("\n");

it("writes counters with their labels, and gauges", () => {
  expect(lines).toContain('adaptive_h3_offers_total{fate="taken"} 12');
  expect(lines).toContain("adaptive_h3_undecided_total 3");
  expect(lines).toContain("# TYPE adaptive_h3_offers_total counter");
  expect(lines).toContain("adaptive_h3_kill_switch 0");
  expect(text.endsWith("\n")).toBe(true);
});

it("escapes what a label may not have", () => {
  expect(lines).toContain('adaptive_h3_version_share{version="a\\"\\\\\\n"} 0.05');
});

it("has the head of every family, and nothing that is none", () => {
  for (const family of Object.keys(FAMILIES)) expect(text).toContain(`# HELP adaptive_h3_${family}_total `);
  expect(text).not.toContain("other");
});
