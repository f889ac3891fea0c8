import { describe, expect, it } from "vitest";
import { nearestName } from "./nearest.ts";

const KNOWN = ["schema", "mode", "method", "contentBytes", "visit", "ma", "margin", "rules"];

describe("nearestName", () => {
  it.each([
    ["mod", "mode"],
    ["moed", "mode"],
    ["Method", "method"],
    ["contentbytes", "contentBytes"],
    ["content_bytes", "contentBytes"],
    ["vistis", "visit"],
    ["rule", "rules"],
    ["margins", "margin"],
  ])("%s: %s was meant", (name, meant) => {
    expect(nearestName(name, KNOWN)).toBe(meant);
  });

  it.each(["", "x", "timeout", "exploration", "m".repeat(10_000)])("%s: none of these", (name) => {
    expect(nearestName(name, KNOWN)).toBeUndefined();
  });

  it("of two equally near ones takes the first", () => {
    expect(nearestName("mb", ["ma", "mc"])).toBe("ma");
    expect(nearestName("a", [])).toBeUndefined();
  });
});
