import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { markerRules } from "../../policy-api/decision/compiled/cloudflare.ts";
import { armsOfReports, compiled } from "../../policy-api/decision/compiled/targets.ts";
import { INITIAL_POLICY, type Policy } from "../../policy-api/decision/policy.ts";
import cubic from "../../policy-api/policies/cubic.json" with { type: "json" };
import { installSchemathesis, TESTS_PYTHON } from "../setup/schemathesis.ts";

// Only here: what `policy compile --to cloudflare-rule` writes, in wirefilter, Cloudflare's own parser of expressions.

const PARSE = `
import json, sys
from octorules_wirefilter import parse_expression
print(json.dumps([parse_expression(text) for text in json.load(sys.stdin)]))`;

interface Rule {
  readonly expression: string;
  readonly action_parameters: { readonly headers: Readonly<Record<string, { readonly expression?: string }>> };
}

interface Parsed {
  readonly error?: string;
  readonly fields: readonly string[];
  readonly int_literals: readonly number[];
}

function parse(expressions: readonly string[]): readonly Parsed[] {
  installSchemathesis();
  const output = execFileSync(TESTS_PYTHON, ["-c", PARSE], { input: JSON.stringify(expressions), encoding: "utf8" });
  return JSON.parse(output) as Parsed[];
}

it.each<[what: string, policy: Policy, host?: string]>([
  ["cubic.json", cubic as unknown as Policy],
  ["a threshold", { ...INITIAL_POLICY, mode: "adaptive", method: { kind: "rtt-threshold", rttMs: 40 } }],
  ["fixed-h3", { ...INITIAL_POLICY, mode: "fixed-h3" }],
  ["arms", { ...(cubic as unknown as Policy), exploration: { share: 0.04 } }],
  ["a share", { ...INITIAL_POLICY, mode: "adaptive", method: { kind: "share", share: 0.5 } }],
  ["fixed-h3 for one host", { ...INITIAL_POLICY, mode: "fixed-h3" }, "www.example.com"],
])("%s", (_, policy, host) => {
  const { rules } = JSON.parse(compiled(policy, "cloudflare-rule", host)) as { rules: { expression: string }[] };
  const parsed = parse(rules.map(({ expression }) => expression));
  expect(parsed.length).toBeGreaterThan(0);
  for (const { error, fields } of parsed) {
    expect(error).toBeUndefined();
    const known = /^(http\.host|http\.request\.(headers|version)|ip\.src|cf\.timings\.client_(tcp|quic)_rtt_msec)$/;
    expect(fields.filter((field) => !known.test(field))).toEqual([]);
  }
});

it.each([undefined, "www.example.com"])("the rules that tell the arm of a report, for host %s", (host) => {
  const policy = {
    ...(cubic as unknown as Policy),
    exploration: { share: 0.04 },
    reports: { share: 1, inject: false },
  };
  const { rules } = JSON.parse(armsOfReports(policy, host) ?? "") as { rules: Rule[] };
  const parsed = parse(rules.map(({ expression }) => expression));
  expect(parsed.map(({ error }) => error)).toEqual([undefined, undefined, undefined]);
  for (const { fields } of parsed)
    expect(fields.filter((field) => !/^(http\.host|http\.request\.uri\.path|ip\.src)$/.test(field))).toEqual([]);
});

it.each([undefined, "www.example.com"])("the rules for a marker, whose value is a text, for host %s", (host) => {
  const { rules } = JSON.parse(markerRules(host)) as { rules: Rule[] };
  const values = rules.flatMap(({ action_parameters: { headers } }) =>
    Object.values(headers).flatMap(({ expression }) => (expression === undefined ? [] : [`${expression} eq "clear"`])),
  );
  const parsed = parse([...rules.map(({ expression }) => expression), ...values]);
  expect(parsed.map(({ error }) => error)).toEqual([undefined, undefined, undefined]);
  expect(parsed.at(-1)?.fields).toEqual(["http.response.headers"]);
});

it("the parser refuses what is no expression", () => {
  const [wrong, salted, literal] = parse([
    'cf.timings.client_tcp_rtt_msec ge "40"',
    'hash_in_range(0, 1000000, ip.src, "salt") lt 1',
    'hash_in_range(0, 1000000, "192.0.2.1") lt 1',
  ]);
  expect(wrong?.error).toContain("expected digit");
  // A draw is by one field of the request: it takes no salt, and no period.
  expect(salted?.error).toContain("invalid number of arguments");
  expect(literal?.error).toContain("expected argument of kind Field");
});
