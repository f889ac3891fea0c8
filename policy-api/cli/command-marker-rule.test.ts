import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { person } from "./testing.ts";

it("prints the rules, and asks no server", async () => {
  const anna = await person();
  const { code, out, err } = await anna.does("marker-rule");
  expect(code).toBe(0);
  // For which phase, beside what a program reads.
  expect(err).toContain("PUT /zones/ZONE/rulesets/phases/http_response_headers_transform/entrypoint");
  expect(JSON.parse(out)).toEqual({
    rules: [
      {
        description: "adaptive-h3, the worker's answer as Alt-Svc",
        expression: 'http.request.version ne ""',
        action: "rewrite",
        action_parameters: {
          headers: { "Alt-Svc": { operation: "set", expression: 'http.response.headers["h3-advice"][0]' } },
        },
        enabled: true,
      },
      {
        description: "adaptive-h3, no marker",
        expression: 'http.request.version ne ""',
        action: "rewrite",
        action_parameters: { headers: { "h3-advice": { operation: "remove" } } },
        enabled: true,
      },
    ],
  });
  expect(anna.api.requests).toEqual([]);
});

it("writes them to a file, and says what they are", async () => {
  const anna = await person();
  const { code, out } = await anna.does("marker-rule --out rules.json");
  const file = /^The rule is in (.*)\.\n/.exec(out)?.[1] ?? "";
  expect([code, out]).toEqual([
    0,
    `The rule is in ${file}.\nIt is the body of PUT /zones/ZONE/rulesets/phases/http_response_headers_transform/entrypoint, which replaces ALL rules of that phase: put your own ones beside it first.\n`,
  ]);
  expect(JSON.parse(readFileSync(file, "utf8"))).toHaveProperty("rules");
  const again = await anna.does("marker-rule --out rules.json");
  expect([again.code, again.err]).toEqual([2, `--out: ${file} is there already, and is not overwritten.\n`]);
  expect(JSON.parse((await anna.does("marker-rule --json")).out)).toHaveProperty("text");
});

it("writes them for Terraform: the same rules, and a variable for the zone", async () => {
  const anna = await person();
  const { rules } = JSON.parse((await anna.does("marker-rule --host www.example.com")).out) as { rules: object[] };
  const { code, out } = await anna.does("marker-rule --host www.example.com --terraform --out h3.tf.json");
  expect([code, out]).toEqual([0, expect.stringContaining("`terraform apply -var zone_id=ZONE`")]);
  const file = /^The rule is in (.*)\.\n/.exec(out)?.[1] ?? "";
  const written = readFileSync(file, "utf8");
  expect(JSON.parse(written)).toEqual({
    variable: { zone_id: { type: "string" } },
    resource: {
      cloudflare_ruleset: {
        adaptive_h3: {
          zone_id: "${var.zone_id}",
          name: "adaptive-h3",
          kind: "zone",
          phase: "http_response_headers_transform",
          rules,
        },
      },
    },
  });
  // Terraform reads ${ and %{ in any text as a template: the zone's is the only one.
  expect(written.match(/[$%]\{/g)).toEqual(["${"]);
});

it("writes them for one host", async () => {
  const anna = await person();
  const { out } = await anna.does("marker-rule --host www.example.com");
  const { rules } = JSON.parse(out) as { rules: { expression: string }[] };
  expect(rules.map(({ expression }) => expression)).toEqual(Array(2).fill('http.host eq "www.example.com"'));
  for (const name of ['a" or true', "WWW.example.com", "https://www.example.com", "www", "-a.example"]) {
    const { code, err } = await anna.does(["marker-rule", `--host=${name}`]);
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/^--host must be a host name such as www\.example\.com, and is /) as string,
    ]);
  }
});
