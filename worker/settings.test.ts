import { describe, expect, it } from "vitest";
import { readSettings } from "./settings.ts";

describe("readSettings", () => {
  it("has a default for each", () => {
    const defaults = { edge: "cloudflare", budgetMs: 5, objectsPerRegion: 32, logDecisions: false };
    expect(readSettings({})).toEqual({ settings: defaults, faults: [] });
    expect(readSettings({ ORIGIN: "", EDGE: null, BUDGET_MS: "" })).toEqual({ settings: defaults, faults: [] });
  });

  it("reads each", () => {
    const source = {
      ORIGIN: "http://a:81",
      EDGE: "none",
      BUDGET_MS: "0",
      OBJECTS_PER_REGION: "9",
      LOG_DECISIONS: "on",
    };
    expect(readSettings(source)).toEqual({
      settings: { origin: new URL("http://a:81"), edge: "none", budgetMs: 0, objectsPerRegion: 9, logDecisions: true },
      faults: [],
    });
  });

  it.each([
    [
      "ORIGIN",
      ["origin", "ftp://a", "http://a/path", "http://a/?q", "http://u:p@a"],
      "must be an http or https URL without a path",
    ],
    ["EDGE", ["nginx"], "must be one of cloudflare, adaptive-h3, none"],
    ["BUDGET_MS", ["-1", "1001", "5ms", "1e2"], "must be a whole number from 0 to 1000"],
    ["OBJECTS_PER_REGION", ["0", "10001"], "must be a whole number from 1 to 10000"],
    ["LOG_DECISIONS", ["true"], "must be on or off"],
    ["POLICY_TOKEN", ["a b", "a!", "=a"], "must be letters, digits and -._~+/, with = at the end only"],
  ])("names a bad %s, and puts the default in its place", (name, values, message) => {
    for (const value of values) {
      const { settings, faults } = readSettings({ [name]: value });
      expect(faults).toEqual([{ name, message }]);
      expect(settings).toEqual(readSettings({}).settings);
    }
  });

  it("wants an ORIGIN where no route leads to one", () => {
    const missing = { name: "ORIGIN", message: "is missing: it must be an http or https URL without a path" };
    expect(readSettings({ EDGE: "adaptive-h3" }).faults).toEqual([missing]);
    expect(readSettings({ EDGE: "none" }).faults).toEqual([missing]);
    expect(readSettings({ EDGE: "none", ORIGIN: "http://a" }).faults).toEqual([]);
    expect(readSettings({ EDGE: "none", ORIGIN: "a" }).faults).toHaveLength(1);
  });
});
