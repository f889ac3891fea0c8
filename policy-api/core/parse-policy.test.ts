import { describe, expect, it } from "vitest";
import bbr from "../policies/bbr.json" with { type: "json" };
import cubic from "../policies/cubic.json" with { type: "json" };
import published from "../policies/published.json" with { type: "json" };
import { parsePolicy } from "./parse-policy.ts";
import { INITIAL_POLICY } from "./policy.ts";
import { adaptivePolicy, LATTICE } from "./testing.ts";

const faults = (input: unknown): string[] => {
  const parsed = parsePolicy(input);
  return parsed.ok ? [] : parsed.faults.map((fault) => `${fault.pointer}: ${fault.message}`);
};
const FIELDS = "schema, mode, source, provenance, method, contentBytes, coldStart, ma, margin, exploration, rules";
/** A policy of mode observe, with these fields. */
const observe = (fields: object): object => ({ schema: 2, mode: "observe", ...fields });

describe("parsePolicy", () => {
  it("fills in what may be left out", () => {
    expect(parsePolicy({ schema: 2, mode: "observe" })).toEqual({ ok: true, value: INITIAL_POLICY });
    expect(parsePolicy(observe({ margin: { enter: 1, leave: 0 }, contentBytes: { default: 5 } }))).toMatchObject({
      ok: true,
      value: { margin: { enter: 1, leave: 0, standardErrors: 1 }, contentBytes: { default: 5, routes: [] } },
    });
  });

  it.each([
    ["the initial one", INITIAL_POLICY],
    ["adaptive by times", adaptivePolicy()],
    [
      "with times of its own for a cold start",
      adaptivePolicy({
        coldStart: {
          advertise: "h3",
          mix: "lines, half each with 2 % loss",
          times: { ...LATTICE, lossRatio: [0], stayMs: [1, 2], switchMs: [1, 2], coldMs: [1, 2] },
        },
      }),
    ],
    [
      "by a switch of two round trips",
      adaptivePolicy({ method: { kind: "times", quic: LATTICE, switchRoundTrips: 2 } }),
    ],
    [
      "by zero lines",
      adaptivePolicy({
        method: { kind: "zero-lines", lines: [{ deliveryRateBps: 1, rttMs: [0, 1], lossRatio: [2, 0] }] },
      }),
    ],
    ["by an RTT", adaptivePolicy({ method: { kind: "rtt-threshold", rttMs: 100 } })],
    ["by share", adaptivePolicy({ method: { kind: "share", share: 0.5 } })],
    ["with rules", { ...adaptivePolicy(), rules: [{ mode: "observe" }] }],
  ])("reads what it wrote: %s", (_name, policy) => {
    expect(parsePolicy(JSON.parse(JSON.stringify(policy)))).toEqual({ ok: true, value: policy });
  });

  it.each([
    ["published", published],
    ["cubic", cubic],
    ["bbr", bbr],
  ])("accepts the policy of the %s times as it stands", (_name, policy) => {
    expect(parsePolicy(policy)).toEqual({ ok: true, value: policy });
  });

  it.each([
    ["no object", [], [": must be an object"]],
    ["null", null, [": must be an object"]],
    ["nothing in it", {}, ["/schema: is missing", "/mode: is missing"]],
    ["an earlier schema", { schema: 1, mode: "observe" }, ["/schema: must be one of 2"]],
    [
      "several faults, each with its place",
      { schema: 2, mode: "always", ma: { minS: 0, maxS: "60" }, margin: { enter: Number.NaN, leave: 0 }, "a/b~": 1 },
      [
        `/a~1b~0: is not known here; known: ${FIELDS}`,
        '/mode: must be one of "observe", "fixed-h2", "fixed-h3", "adaptive"',
        "/ma/minS: must be a whole number from 1 to 86400",
        "/ma/maxS: must be a whole number from 1 to 86400",
        "/margin/enter: must be a number from -1 to 10",
      ],
    ],
    ["adaptive without a method", { schema: 2, mode: "adaptive" }, ["/method: must be there where a mode is adaptive"]],
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
      "a negative caution",
      observe({ margin: { enter: 0, leave: 0, standardErrors: -1 } }),
      ["/margin/standardErrors: must be a number from 0 to 10"],
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
      "where it comes from",
      observe({ provenance: { stack: "s", congestionControl: "cubic", command: "c", rowsSha256: "AB", loads: 1 } }),
      [
        "/provenance/rowsSha256: must be a SHA-256 in hexadecimal, of 1 to 64 characters",
        "/provenance/cells: is missing",
      ],
    ],
    [
      "a cold start over loss and rate, which nobody knows then",
      observe({ coldStart: { advertise: "h3", times: { ...LATTICE, deliveryRateBps: [1] } } }),
      ["/coldStart/times/lossRatio: must have one value in a cold start"],
    ],
    [
      "a key that would reach the prototype",
      JSON.parse('{"schema":2,"mode":"observe","__proto__":{"mode":"fixed-h3"}}'),
      [`/__proto__: is not known here; known: ${FIELDS}`],
    ],
  ])("%s", (_name, input, expected) => {
    expect(faults(input)).toEqual(expected);
  });
});

describe("a method", () => {
  const TCP = "/method/tcp";
  const line = { deliveryRateBps: 1e6, rttMs: [0, 10], lossRatio: [0.1, 0.2] };
  it.each<[string, unknown, readonly string[]]>([
    ["no object", 7, ['/method/kind: must be one of "times", "zero-lines", "rtt-threshold", "share"']],
    ["no kind", {}, ['/method/kind: must be one of "times", "zero-lines", "rtt-threshold", "share"']],
    [
      "another kind",
      { kind: "guess" },
      ['/method/kind: must be one of "times", "zero-lines", "rtt-threshold", "share"'],
    ],
    [
      "fields of another kind",
      { kind: "share", share: 1, rttMs: 5 },
      ["/method/rttMs: is not known here; known: kind, share"],
    ],
    ["times of no transport", { kind: "times" }, ["/method: must have times over what tcp or quic measures"]],
    [
      "a lattice that does not fit its axes",
      { kind: "times", tcp: { ...LATTICE, rttMs: [5, 5], stayMs: [1, 2, 3], coldSe: [1] } },
      [
        `${TCP}/rttMs/1: must be larger than the one before it`,
        `${TCP}/stayMs: must have a figure for each of 4 nodes`,
        `${TCP}/coldSe: must have a figure for each of 4 nodes`,
      ],
    ],
    [
      "a lattice without an axis",
      { kind: "times", tcp: { ...LATTICE, contentBytes: [] } },
      [`${TCP}/contentBytes: must be a list of 1 to 64 items`],
    ],
    [
      "a time of 0",
      { kind: "times", quic: { ...LATTICE, switchMs: [0, 1, 1, 1] } },
      ["/method/quic/switchMs/0: must be a number from 0.001 to 86400000"],
    ],
    [
      "half supported",
      { kind: "times", tcp: { ...LATTICE, supported: [1, 1, 0.5, 1] } },
      [`${TCP}/supported/2: must be a whole number from 0 to 1`],
    ],
    ["no zero lines", { kind: "zero-lines", lines: [] }, ["/method/lines: must be a list of 1 to 32 items"]],
    [
      "a zero line that steps back, and lacks a loss",
      { kind: "zero-lines", lines: [line, { ...line, rttMs: [0, 10, 10] }] },
      [
        "/method/lines/1/rttMs/2: must be larger than the one before it",
        "/method/lines/1/lossRatio: must have a loss for each of 3 rttMs",
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
