import { readFileSync } from "node:fs";
import { beforeEach, expect, it } from "vitest";
import { adaptivePolicy } from "../decision/testing.ts";
import { type Person, person } from "./testing.ts";

let anna: Person;
beforeEach(async () => {
  anna = await person();
  anna.writes("always.json", { schema: 3, mode: "fixed-h3" });
  anna.writes("observe.json", { schema: 3, mode: "observe" });
  anna.writes("arms.json", adaptivePolicy({ exploration: { share: 0.1 }, reports: { share: 1, inject: true } }));
});

it("prints the rule, and asks no server", async () => {
  const { code, out, err } = await anna.does("compile always.json --to haproxy");
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(/^(# .*\n)+http-request (.*\n)+http-response set-header alt-svc 'h3=":443"; ma=3600' if .*\n$/);
  expect(anna.api.requests).toEqual([]);
});

it.each([
  ["nginx", "Its first lines say where it belongs.\nOver HTTP/3 nothing is said, and an offer ends by its ma.\n"],
  ["vcl", "Its first lines say where it belongs.\nOver HTTP/3 nothing is said, and an offer ends by its ma.\n"],
  [
    "cloudflare-rule",
    "It is the body of PUT /zones/ZONE/rulesets/phases/http_response_headers_transform/entrypoint, which replaces ALL rules of that phase: put your own ones beside it first.\n",
  ],
  [
    "cloudflare-rule --terraform",
    "`terraform apply -var zone_id=ZONE` puts it in place, and takes away ALL rules of that phase: put your own ones beside it first.\n",
  ],
])("writes %s to a file, and says where it belongs", async (target, where) => {
  const { code, out } = await anna.does(`compile always.json --to ${target} --out rule`);
  const file = /^The rule is in (.*)\.\n/.exec(out)?.[1] ?? "";
  expect([code, out]).toEqual([0, `The rule is in ${file}.\n${where}`]);
  expect(readFileSync(file, "utf8")).toContain("ma=3600");
  const again = await anna.does(`compile always.json --to ${target} --out rule`);
  expect([again.code, again.err]).toEqual([2, `--out: ${file} is there already, and is not overwritten.\n`]);
});

it("writes a zone's rules for one host, and for Terraform the same ones", async () => {
  const line = "compile always.json --to cloudflare-rule --host www.example.com";
  const { rules } = JSON.parse((await anna.does(line)).out) as { rules: { expression: string }[] };
  expect(rules.map(({ expression }) => expression)).toEqual([
    'http.host eq "www.example.com"',
    expect.stringMatching(/^http\.host eq "www\.example\.com" and any\(.* ne "HTTP\/3"$/),
    expect.stringMatching(/^http\.host eq "www\.example\.com" and any\(.* eq "HTTP\/3"$/),
  ]);
  const { out } = await anna.does(`${line} --terraform`);
  expect(JSON.parse(out)).toMatchObject({ resource: { cloudflare_ruleset: { adaptive_h3: { rules } } } });
});

it("tells a program the same", async () => {
  const { out } = await anna.does("compile always.json --to nginx --json");
  expect(JSON.parse(out)).toEqual({
    target: "nginx",
    text: expect.stringContaining('map "$http_sec_fetch_dest:$tcpinfo_rtt"') as string,
  });
});

it.each([
  ["compile observe.json --to vcl", 1, "No rule can do what observe.json says.\nobserve.json: /mode sets no header"],
  ["compile arms.json --to vcl", 1, "arms.json: /exploration/share a rule remembers nobody"],
  ["compile arms.json --to vcl", 1, "arms.json: /reports/share a rule cannot ask pages to report"],
  ["compile always.json --to vcl --host www.example.com", 2, "--host is for cloudflare-rule alone: vcl stands in"],
  ["compile always.json --to nginx --terraform", 2, "--terraform is for cloudflare-rule alone: nginx stands in"],
  ["compile always.json --to cloudflare-rule --host www", 2, "--host must be a host name such as www.example.com"],
  ["compile always.json", 2, "--to says what to write: cloudflare-rule, nginx, haproxy, vcl."],
  ["compile always.json --to caddy", 2, '--to must be cloudflare-rule or nginx or haproxy or vcl, and is "caddy".'],
  ["compile none.json --to vcl", 2, "none.json"],
])("%s: %d", async (line, code, sentence) => {
  const ran = await anna.does(line);
  expect([ran.code, ran.out]).toEqual([code, ""]);
  expect(ran.err).toContain(sentence);
});
