import { describe, expect, it } from "vitest";
import published from "../policies/published.json" with { type: "json" };
import { parsePolicy } from "./parse-policy.ts";
import { INITIAL_POLICY } from "./policy.ts";
import { adaptivePolicy, TABLE } from "./testing.ts";

const faults = (input: unknown): string[] => {
  const parsed = parsePolicy(input);
  return parsed.ok ? [] : parsed.faults.map((fault) => `${fault.pointer}: ${fault.message}`);
};

describe("parsePolicy", () => {
  it("fills in what may be left out", () => {
    expect(parsePolicy({ schema: 1, mode: "observe" })).toEqual({ ok: true, value: INITIAL_POLICY });
  });

  it("reads what it wrote", () => {
    for (const policy of [INITIAL_POLICY, adaptivePolicy(), { ...adaptivePolicy(), rules: [{ mode: "observe" }] }])
      expect(parsePolicy(JSON.parse(JSON.stringify(policy)))).toEqual({ ok: true, value: policy });
  });

  it("accepts the policy of the published figures", () => {
    expect(faults(published)).toEqual([]);
  });

  it.each([
    ["no object", [], [": must be an object"]],
    ["null", null, [": must be an object"]],
    ["nothing in it", {}, ["/schema: is missing", "/mode: is missing"]],
    ["another schema", { schema: 2, mode: "observe" }, ["/schema: must be one of 1"]],
    [
      "several faults, each with its place",
      { schema: 1, mode: "always", ma: { minS: 0, maxS: "60" }, margin: { enter: Number.NaN, leave: 0 }, "a/b~": 1 },
      [
        "/a~1b~0: is not known here; known: schema, mode, times, coldStart, ma, margin, exploration, rules",
        '/mode: must be one of "observe", "fixed-h2", "fixed-h3", "adaptive"',
        "/ma/minS: must be a whole number from 1 to 86400",
        "/ma/maxS: must be a whole number from 1 to 86400",
        "/margin/enter: must be a number from -1 to 10",
      ],
    ],
    [
      "adaptive without times",
      { schema: 1, mode: "adaptive" },
      ["/times: must hold at least one table where a mode is adaptive"],
    ],
    [
      "a rule that is adaptive without times",
      { schema: 1, mode: "observe", rules: [{ mode: "adaptive" }] },
      ["/times: must hold at least one table where a mode is adaptive"],
    ],
    [
      "bounds the wrong way round",
      { schema: 1, mode: "observe", ma: { minS: 9, maxS: 5 }, margin: { enter: 0, leave: 1 } },
      ["/ma/minS: must not be larger than maxS", "/margin/leave: must not be larger than enter"],
    ],
    [
      "a lattice that does not fit its axes",
      { ...adaptivePolicy(), times: [{ ...TABLE, rttMs: [5, 5], stayMs: [[1, 2]], coldMs: [[1, 2], [3]] }] },
      [
        "/times/0/rttMs/1: must be larger than the one before it",
        "/times/0/stayMs: must have one row for each of 2 lossRatio",
        "/times/0/coldMs/1: must have one time for each of 2 rttMs",
      ],
    ],
    [
      "a time of 0",
      {
        ...adaptivePolicy(),
        times: [
          {
            ...TABLE,
            switchMs: [
              [0, 1],
              [1, 1],
            ],
          },
        ],
      },
      ["/times/0/switchMs/0/0: must be a number from 5e-324 to 86400000"],
    ],
    [
      "rules",
      { schema: 1, mode: "observe", rules: [{ pathPrefix: "live", country: ["jp"], asn: [-1], mode: "observe" }] },
      [
        "/rules/0/pathPrefix: must be a path that begins with /, of 1 to 1000 characters",
        "/rules/0/asn/0: must be a whole number from 0 to 4294967295",
        "/rules/0/country/0: must be a country code such as JP, of 1 to 2 characters",
      ],
    ],
    [
      "a key that would reach the prototype",
      JSON.parse('{"schema":1,"mode":"observe","__proto__":{"mode":"fixed-h3"}}'),
      ["/__proto__: is not known here; known: schema, mode, times, coldStart, ma, margin, exploration, rules"],
    ],
  ])("%s", (_name, input, expected) => {
    expect(faults(input)).toEqual(expected);
  });
});
