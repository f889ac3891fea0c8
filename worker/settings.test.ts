import { describe, expect, it } from "vitest";
import { readSettings } from "./settings.ts";

describe("readSettings", () => {
  it("has a default for each", () => {
    const defaults = {
      edge: "cloudflare",
      actuator: "header",
      budgetMs: 5,
      objectsPerRegion: 32,
      logDecisions: false,
      announceDecisions: false,
      flushCountsMs: 60_000,
      tokens: [],
      apiOrigins: [],
    };
    expect(readSettings({})).toEqual({ settings: defaults, faults: [] });
    expect(readSettings({ ORIGIN: "", EDGE: null, BUDGET_MS: "" })).toEqual({ settings: defaults, faults: [] });
  });

  it("reads each", () => {
    const source = {
      ORIGIN: "http://a:81",
      EDGE: "none",
      ACTUATOR: "marker",
      ASSETS: "https://files.example.com:8443  /static/ /img",
      BUDGET_MS: "0",
      OBJECTS_PER_REGION: "9",
      LOG_DECISIONS: "on",
      TELL_DECISIONS: "on",
      CLIENT_KEY: "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=",
      POLICY_TOKENS: `ops:write:${"0a".repeat(32)}, view:read:${"ff".repeat(32)}`,
      API_ORIGINS: "https://console.example.com, http://localhost:3000",
    };
    expect(readSettings(source)).toEqual({
      settings: {
        origin: new URL("http://a:81"),
        clientKey: new Uint8Array(32).fill(7).buffer,
        edge: "none",
        actuator: "marker",
        assets: { origin: "https://files.example.com:8443", paths: ["/static/", "/img"] },
        budgetMs: 0,
        objectsPerRegion: 9,
        logDecisions: true,
        announceDecisions: true,
        flushCountsMs: 20_000,
        tokens: [
          { name: "ops", scope: "write", sha256: new Uint8Array(32).fill(10) },
          { name: "view", scope: "read", sha256: new Uint8Array(32).fill(255) },
        ],
        apiOrigins: ["https://console.example.com", "http://localhost:3000"],
      },
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
    ["ACTUATOR", ["alt-svc", "Header"], "must be one of header, marker"],
    [
      "ASSETS",
      [
        "files.example.com /a",
        "http://a.example /a",
        "https://a.example/ /a",
        "https://a.example",
        "https://a.example a",
      ],
      "must be an https URL without a path, and what paths of files begin with, such as https://files.example.com /static/",
    ],
    ["BUDGET_MS", ["-1", "1001", "5ms", "1e2"], "must be a whole number from 0 to 1000"],
    ["OBJECTS_PER_REGION", ["0", "10001"], "must be a whole number from 1 to 10000"],
    ["LOG_DECISIONS", ["true"], "must be on or off"],
    ["TELL_DECISIONS", ["ON"], "must be on or off"],
    [
      "CLIENT_KEY",
      ["secret", "B".repeat(44), `${"B".repeat(41)}==`, `${"B".repeat(42)}_=`, `${"Bw".repeat(22)}=`],
      "must be 32 bytes as base64",
    ],
    [
      "RULE_ARMS",
      ["on", "localhost", "https://www.example.com", "www.example.com:8443", "www.example.com/a", "WWW.example.com"],
      "must be a host name such as www.example.com",
    ],
    [
      "API_ORIGINS",
      ["console.example.com", "https://a.example/", "https://a.example,*", "null"],
      "must be origins such as https://console.example.com, separated by commas",
    ],
    [
      "POLICY_TOKENS",
      [
        "secret",
        "ops:write:secret",
        `Ops:write:${"0".repeat(64)}`,
        `ops:all:${"0".repeat(64)}`,
        `:read:${"0".repeat(64)}`,
      ],
      "has a fault: entry 1 must be name:SCOPE:SHA256, and SCOPE read, write or autopilot",
    ],
  ])("names a bad %s, and puts the default in its place", (name, values, message) => {
    for (const value of values) {
      const { settings, faults } = readSettings({ [name]: value });
      expect(faults).toEqual([{ name, message }]);
      expect(settings).toEqual(readSettings({}).settings);
    }
  });

  it("takes the tokens that can be read, and says nothing of what stands in the others", () => {
    const good = `ops:write:${"0".repeat(64)}`;
    const { settings, faults } = readSettings({ POLICY_TOKENS: `my-secret ${good}\n${good}` });
    expect(settings.tokens.map(({ name }) => name)).toEqual(["ops"]);
    expect(faults.map(({ message }) => message)).toEqual([
      "has a fault: entry 1 must be name:SCOPE:SHA256, and SCOPE read, write or autopilot",
      "has a fault: entry 3 has the name of an earlier one",
    ]);
    expect(JSON.stringify(faults)).not.toContain("my-secret");
  });

  it("believes arms of rules for one host, and only behind an edge that has rules", () => {
    expect(readSettings({ RULE_ARMS: "www.example.com" }).settings.ruleArms).toBe("www.example.com");
    const { settings, faults } = readSettings({ EDGE: "none", ORIGIN: "http://a", RULE_ARMS: "www.example.com" });
    expect(settings.ruleArms).toBeUndefined();
    expect(faults).toEqual([{ name: "RULE_ARMS", message: "is for EDGE = cloudflare alone: no other edge has rules" }]);
  });

  it("wants an ORIGIN where no route leads to one", () => {
    const missing = { name: "ORIGIN", message: "is missing: it must be an http or https URL without a path" };
    expect(readSettings({ EDGE: "adaptive-h3" }).faults).toEqual([missing]);
    expect(readSettings({ EDGE: "none" }).faults).toEqual([missing]);
    expect(readSettings({ EDGE: "none", ORIGIN: "http://a" }).faults).toEqual([]);
    expect(readSettings({ EDGE: "none", ORIGIN: "a" }).faults).toHaveLength(1);
  });
});
