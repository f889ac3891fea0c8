import bbr from "../policies/bbr.json" with { type: "json" };
import cubic from "../policies/cubic.json" with { type: "json" };
import published from "../policies/published.json" with { type: "json" };
import { describe, expect, it } from "vitest";
import { INITIAL_POLICY, parsePolicy } from "./policy.ts";
import { adaptivePolicy, flatTable, GAINS } from "./testing.ts";

const faults = (input: unknown): string[] => {
  const parsed = parsePolicy(input);
  return parsed.ok ? [] : parsed.faults.map((fault) => `${fault.pointer}: ${fault.message}`);
};
const FIELDS = "schema, mode, source, provenance, method, contentBytes, visit, ma, margin, exploration, reports, rules";
/** A policy of mode observe, with these fields. */
const observe = (fields: object): object => ({ schema: 3, mode: "observe", ...fields });

describe("parsePolicy", () => {
  it("fills in what may be left out", () => {
    expect(parsePolicy({ schema: 3, mode: "observe" })).toEqual({ ok: true, value: INITIAL_POLICY });
    expect(parsePolicy(observe({ margin: { enter: 1, leave: 0 }, contentBytes: { default: 5 } }))).toMatchObject({
      ok: true,
      value: { margin: { enter: 1, leave: 0 }, contentBytes: { default: 5, routes: [] } },
    });
    expect(parsePolicy(observe({ reports: { share: 0.1 } }))).toMatchObject({
      value: { reports: { share: 0.1, inject: false } },
    });
  });

  it.each([
    ["the initial one", INITIAL_POLICY],
    ["adaptive by gains", adaptivePolicy()],
    ["with a visit of its own", adaptivePolicy({ visit: { pages: [0.5, 0.5], returns: [] } })],
    [
      "by zero lines",
      adaptivePolicy({
        method: {
          kind: "zero-lines",
          lines: [{ deliveryRateBps: 1, rttMs: [0, 1], lossRatio: [2, 0] }],
          unknown: "h3",
        },
      }),
    ],
    ["by an RTT", adaptivePolicy({ method: { kind: "rtt-threshold", rttMs: 100 } })],
    ["by share", adaptivePolicy({ method: { kind: "share", share: 0.5 } })],
    ["with reports", adaptivePolicy({ reports: { share: 0.05, inject: true } })],
    ["with rules", { ...adaptivePolicy(), rules: [{ mode: "observe" }] }],
  ])("reads what it wrote: %s", (_name, policy) => {
    expect(parsePolicy(JSON.parse(JSON.stringify(policy)))).toEqual({ ok: true, value: policy });
  });

  it.each([
    ["published", published],
    ["cubic", cubic],
    ["bbr", bbr],
  ])("accepts the policy %s as it stands, and says the rest", (_name, policy) => {
    expect(parsePolicy(policy)).toMatchObject({ ok: true, value: policy });
  });

  it.each([
    ["no object", [], [": must be an object"]],
    ["null", null, [": must be an object"]],
    ["nothing in it", {}, ["/schema: is missing", "/mode: is missing"]],
    ["another schema", { schema: 2, mode: "observe" }, ["/schema: must be one of 3"]],
    [
      "several faults, each with its place",
      { schema: 3, mode: "always", ma: { minS: 0, maxS: "60" }, margin: { enter: Number.NaN, leave: 0 }, "a/b~": 1 },
      [
        `/a~1b~0: is not known here; known: ${FIELDS}`,
        '/mode: must be one of "observe", "fixed-h2", "fixed-h3", "adaptive"',
        "/ma/minS: must be a whole number from 1 to 86400",
        "/ma/maxS: must be a whole number from 1 to 86400",
        "/margin/enter: must be a number from -1 to 10",
      ],
    ],
    ["adaptive without a method", { schema: 3, mode: "adaptive" }, ["/method: must be there where a mode is adaptive"]],
    [
      "a rule that is adaptive without a method",
      observe({ rules: [{ mode: "adaptive" }] }),
      ["/method: must be there where a mode is adaptive"],
    ],
    [
      "bounds the wrong way round",
      observe({ ma: { minS: 9, maxS: 5 }, margin: { enter: 0, leave: 1 } }),
      ["/ma/minS: must not be larger than maxS", "/margin/leave: must not be larger than enter"],
    ],
    [
      "visits that do not add up",
      observe({ visit: { pages: [0.5, 0.4] } }),
      ["/visit/pages: must add up to 1, not 0.9"],
    ],
    [
      "rules",
      observe({ rules: [{ pathPrefix: "live", country: ["jp"], asn: [-1], mode: "observe" }] }),
      [
        "/rules/0/pathPrefix: must be a path that begins with /, of 1 to 1000 characters",
        "/rules/0/asn/0: must be a whole number from 0 to 4294967295",
        "/rules/0/country/0: must be a country code such as JP, of 1 to 2 characters",
      ],
    ],
    [
      "what sessions transfer",
      observe({ contentBytes: { default: 0, routes: [{ pathPrefix: "shop", bytes: 1.5 }] } }),
      [
        "/contentBytes/default: must be a whole number from 1 to 1000000000000",
        "/contentBytes/routes/0/pathPrefix: must be a path that begins with /, of 1 to 1000 characters",
        "/contentBytes/routes/0/bytes: must be a whole number from 1 to 1000000000000",
      ],
    ],
    [
      "who reports",
      observe({ reports: { share: 5, inject: "yes" } }),
      ["/reports/share: must be a number from 0 to 1", "/reports/inject: must be true or false"],
    ],
    [
      "where it comes from",
      observe({ provenance: { stack: "s", congestionControl: "cubic", quic: "", rowsSha256: "AB", loads: 1 } }),
      [
        "/provenance/quic: must be text of 1 to 50 characters",
        "/provenance/command: is missing",
        "/provenance/rowsSha256: must be a SHA-256 in hexadecimal, of 1 to 64 characters",
      ],
    ],
    [
      "a key that would reach the prototype",
      JSON.parse('{"schema":3,"mode":"observe","__proto__":{"mode":"fixed-h3"}}'),
      [`/__proto__: is not known here; known: ${FIELDS}`],
    ],
  ])("%s", (_name, input, expected) => {
    expect(faults(input)).toEqual(expected);
  });
});

describe("a method", () => {
  const TABLE = "/method/table";
  const table = flatTable(0, 0);
  const hole = { gain: [[[0]]], se: [[[0.1], [0.1]]] };
  const line = { deliveryRateBps: 1e6, rttMs: [0, 10], lossRatio: [0.1, 0.2] };
  it.each<[string, unknown, readonly string[]]>([
    ["no object", 7, ['/method/kind: must be one of "gains", "zero-lines", "rtt-threshold", "share"']],
    ["no kind", {}, ['/method/kind: must be one of "gains", "zero-lines", "rtt-threshold", "share"']],
    [
      "another kind",
      { kind: "guess" },
      ['/method/kind: must be one of "gains", "zero-lines", "rtt-threshold", "share"'],
    ],
    [
      "fields of another kind",
      { kind: "share", share: 1, rttMs: 5 },
      ["/method/rttMs: is not known here; known: kind, share"],
    ],
    [
      "a table with a hole",
      { ...GAINS, table: { ...table, next: hole } },
      [`${TABLE}/next/gain/0: must have one for each of 2 lossRatio`],
    ],
    [
      "a table with a short line",
      { ...GAINS, table: { ...table, rttMs: [5, 50], price: [0, 0] } },
      [
        `${TABLE}/priceSe: must have one for each of 2 rttMs`,
        ...["next", "return"].flatMap((of) =>
          ["gain", "se"].flatMap((name) =>
            [0, 1].map((loss) => `${TABLE}/${of}/${name}/0/${loss}: must have one for each of 2 rttMs`),
          ),
        ),
      ],
    ],
    [
      "an axis in the wrong order",
      { ...GAINS, table: { ...table, lossRatio: [0.05, 0] } },
      [`${TABLE}/lossRatio/1: must be larger than the one before it`],
    ],
    [
      "a standard error of 0",
      { ...GAINS, table: { ...table, return: { gain: [[[0], [0]]], se: [[[0.1], [0]]] } } },
      [`${TABLE}/return/se/0/1/0: must be a number from 0.000001 to 10`],
    ],
    [
      "a mix of other losses, that does not add up",
      { ...GAINS, mix: [0.5, 0.4, 0.2] },
      ["/method/mix: must have one for each of 2 lossRatio", "/method/mix: must add up to 1, not 1.1"],
    ],
    [
      "no zero lines",
      { kind: "zero-lines", lines: [], unknown: "h3" },
      ["/method/lines: must be a list of 1 to 32 items"],
    ],
    [
      "a zero line that steps back, and lacks a loss",
      { kind: "zero-lines", lines: [line, { ...line, rttMs: [0, 10, 10] }], unknown: "h3" },
      [
        "/method/lines/1/rttMs/2: must be larger than the one before it",
        "/method/lines/1/lossRatio: must have one for each of 3 rttMs",
      ],
    ],
    [
      "an RTT that is none",
      { kind: "rtt-threshold", rttMs: "100" },
      ["/method/rttMs: must be a number from 0 to 3600000"],
    ],
    ["more than all", { kind: "share", share: 1.1 }, ["/method/share: must be a number from 0 to 1"]],
  ])("%s", (_name, method, expected) => {
    expect(faults(observe({ method }))).toEqual(expected);
  });
});
