import { hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { adaptivePolicy } from "../decision/testing.ts";
import { drawnArm } from "../decision/decide.ts";
import { sampleRatioOf } from "../visitors/sample-ratio.ts";
import { type Canned, type Person, person, testIo } from "./testing.ts";
import { run } from "./run.ts";

const DRY = "compile always.json --to cloudflare-rule --host www.example.com --dry-run";

let anna: Person;
beforeEach(async () => {
  anna = await person();
  anna.writes("always.json", { schema: 3, mode: "fixed-h3" });
  anna.writes("observe.json", { schema: 3, mode: "observe" });
  anna.writes("arms.json", adaptivePolicy({ exploration: { share: 0.1 }, reports: { share: 1, inject: true } }));
  anna.writes("reporting.json", adaptivePolicy({ exploration: { share: 0.1 }, reports: { share: 1, inject: false } }));
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
  ["compile arms.json --to vcl", 1, "arms.json: /exploration/share a rule of this server cannot draw arms"],
  ["compile arms.json --to vcl", 1, "arms.json: /reports/share a rule cannot ask pages to report"],
  ["compile arms.json --to cloudflare-rule", 1, "arms.json: /reports/inject a rule cannot put the script into pages"],
  ["compile always.json --to cloudflare-rule --reports", 1, "always.json: /reports/share must be 1, and exploration"],
  [
    "compile reporting.json --to cloudflare-rule",
    2,
    "A policy whose pages report wants --host: the worker's RULE_ARMS",
  ],
  ["compile reporting.json --to cloudflare-rule --dry-run", 2, "--dry-run wants --host: it says which zone is asked."],
  ["compile reporting.json --to vcl --reports", 2, "--reports is for cloudflare-rule alone: vcl stands in"],
  [
    "compile reporting.json --to cloudflare-rule --reports --terraform",
    2,
    "--terraform writes the rules of both phases",
  ],
  [`${DRY} --reports`, 2, "--dry-run asks for the rules of both phases: leave --reports out."],
  ["compile always.json --to vcl --host www.example.com", 2, "--host is for cloudflare-rule alone: vcl stands in"],
  ["compile always.json --to nginx --terraform", 2, "--terraform is for cloudflare-rule alone: nginx stands in"],
  ["compile always.json --to vcl --dry-run", 2, "--dry-run is for cloudflare-rule alone: vcl stands in"],
  ["compile always.json --to cloudflare-rule --dry-run", 2, "--dry-run wants --host: it says which zone is asked."],
  [`${DRY} --out rule`, 2, "--dry-run writes no rules: leave --out out."],
  [`${DRY} --terraform`, 2, "--dry-run writes no rules: leave --terraform out."],
  [DRY, 3, "--dry-run needs a token of Cloudflare's API in CLOUDFLARE_API_TOKEN."],
  ["compile always.json --to cloudflare-rule --host www", 2, "--host must be a host name such as www.example.com"],
  ["compile always.json", 2, "--to says what to write: cloudflare-rule, nginx, haproxy, vcl."],
  ["compile always.json --to caddy", 2, '--to must be cloudflare-rule or nginx or haproxy or vcl, and is "caddy".'],
  ["compile none.json --to vcl", 2, "none.json"],
])("%s: %d", async (line, code, sentence) => {
  const ran = await anna.does(line);
  expect([ran.code, ran.out]).toEqual([code, ""]);
  expect(ran.err).toContain(sentence);
});

describe("rules that draw", () => {
  const SHARE = 0.04;
  /** Which arm rules draw an address into, by a hash that stands in for Cloudflare's, whose own is not published. */
  function armOf(
    rules: readonly { expression: string; action_parameters: unknown }[],
    draw: number,
  ): string | undefined {
    const arms = rules.flatMap(({ expression, action_parameters }) => {
      const [, than, limit] = /hash_in_range\(0, 1000000, ip\.src\) (lt|ge) (\d+)$/.exec(expression) ?? [];
      if (than === undefined || (than === "lt") !== draw < Number(limit)) return [];
      return [/h3-arm;desc=\\"(\w+)\\"/.exec(JSON.stringify(action_parameters))?.[1]];
    });
    expect(arms.length).toBeLessThan(2);
    return arms[0];
  }

  it("draw each of 100,000 clients as the worker draws at the same number, and evenly", async () => {
    const policy = adaptivePolicy({ exploration: { share: SHARE } });
    anna.writes("drawing.json", policy);
    const { out, err } = await anna.does("compile drawing.json --to cloudflare-rule");
    expect(err).toContain("no page reports them to `results`");
    const { rules } = JSON.parse(out) as { rules: { expression: string; action_parameters: unknown }[] };
    const arms = { offered: 0, withheld: 0 };
    for (let client = 0; client < 100_000; client++) {
      const draw =
        hash("sha256", `10.${client >> 16}.${(client >> 8) & 255}.${client & 255}`, "buffer").readUInt32BE() %
        1_000_000;
      const arm = armOf(rules, draw);
      if (arm !== drawnArm(policy, draw / 1e6)) expect.fail(`${draw} is drawn into ${arm}`);
      if (arm === "offer") arms.offered++;
      if (arm === "withhold") arms.withheld++;
    }
    expect((arms.offered + arms.withheld) / 100_000).toBeCloseTo(SHARE, 2);
    expect(sampleRatioOf(arms, 0.5).isUneven).toBe(false);
    // Reports of which one arm's are lost by a fifth: the check finds it.
    expect(sampleRatioOf({ ...arms, withheld: arms.withheld * 0.8 }, 0.5).isUneven).toBe(true);
  });

  it("tell the worker with each report the arm that its page had, and take away what a visitor wrote", async () => {
    const line = "compile reporting.json --to cloudflare-rule --host www.example.com";
    const { err, out: pages } = await anna.does(line);
    expect(err).toContain("set its variable RULE_ARMS, and\nput the rules in place that --reports writes, too");
    const written = await anna.does(`${line} --reports`);
    expect(written.code).toBe(0);
    expect(written.err).toContain(
      "PUT /zones/ZONE/rulesets/phases/http_request_late_transform/entrypoint, which replaces",
    );
    const { rules } = JSON.parse(written.out) as { rules: { expression: string; action_parameters: unknown }[] };
    const isHost = 'http.host eq "www.example.com" and ';
    const isReport = `${isHost}http.request.uri.path eq "/_h3/v1/report" and `;
    const draw = "hash_in_range(0, 1000000, ip.src)";
    expect(rules.map(({ expression, action_parameters }) => [expression, action_parameters])).toEqual([
      [
        `${isHost}(http.request.uri.path ne "/_h3/v1/report" or (${draw} ge 50000 and ${draw} lt 950000))`,
        { headers: { "h3-arm": { operation: "remove" } } },
      ],
      [`${isReport}${draw} lt 50000`, { headers: { "h3-arm": { operation: "set", value: "offer" } } }],
      [`${isReport}${draw} ge 950000`, { headers: { "h3-arm": { operation: "set", value: "withhold" } } }],
    ]);
    // By the same draws as pages.
    for (const draws of ["lt 50000", "ge 950000"]) expect(pages).toContain(`${draw} ${draws}`);
    const { out: both } = await anna.does(`${line} --terraform`);
    expect(JSON.parse(both)).toMatchObject({
      resource: {
        cloudflare_ruleset: {
          adaptive_h3: { phase: "http_response_headers_transform", ...(JSON.parse(pages) as object) },
          adaptive_h3_reports: { phase: "http_request_late_transform", rules },
        },
      },
    });
    const { out } = await anna.does(`${line} --reports --out rules`);
    expect(out).toContain("PUT /zones/ZONE/rulesets/phases/http_request_late_transform/entrypoint");
  });

  it("say in a file's place what compares their arms", async () => {
    anna.writes("drawing.json", adaptivePolicy({ method: { kind: "share", share: 0.5 } }));
    const { code, out, err } = await anna.does("compile drawing.json --to cloudflare-rule --out rule");
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("finds its arm in Server-Timing, as h3-arm");
  });
});

describe("--dry-run", () => {
  const ENTRYPOINT = "/zones/z1/rulesets/phases/http_response_headers_transform/entrypoint";
  const RULES: Canned = { status: 200, body: { result: { version: "7", rules: [{}, {}, {}] } } };

  /** Asks an API that answers so, and tells what it was asked. */
  async function asked(
    answers: Readonly<Record<string, Canned | readonly Canned[]>>,
    base = anna.api.url,
    policy: object = { schema: 3, mode: "fixed-h3" },
  ): Promise<{ code: number; out: string; err: string; asked: string[] }> {
    const later = Object.fromEntries(Object.entries(answers).map(([call, one]) => [call, [one].flat()]));
    anna.api.instead = ({ method, path }) => {
      const queue = later[`${method} ${path}`] ?? [];
      return (queue.length > 1 ? queue.shift() : queue[0]) ?? { status: 404, body: { errors: [] } };
    };
    const io = testIo({ CLOUDFLARE_API_TOKEN: "cf-secret", CLOUDFLARE_API_BASE_URL: base });
    writeFileSync(join(io.folder, "always.json"), JSON.stringify(policy));
    const code = await run(DRY.split(" "), io);
    const [out, err] = [io.stdout, io.stderr].map((stream) => String(stream.read() ?? ""));
    return { code, out: out ?? "", err: err ?? "", asked: anna.api.asked() };
  }
  const ZONE = {
    "GET /zones?name=www.example.com": { status: 200, body: { result: [] } },
    "GET /zones?name=example.com": { status: 200, body: { result: [{ id: "z1" }] } },
  };

  it("sends the rules with dry_run alone, and says what they would replace", async () => {
    const ran = await asked({
      ...ZONE,
      [`GET ${ENTRYPOINT}`]: RULES,
      [`PUT ${ENTRYPOINT}?dry_run=true`]: { status: 200, body: { result: {} } },
    });
    expect([ran.code, ran.err]).toEqual([0, ""]);
    expect(ran.out).toBe(
      "Cloudflare would take these 3 rules for the zone of www.example.com, in the phase http_response_headers_transform. Nothing was changed.\n" +
        "They would take the place of the 3 rules that are there.\n",
    );
    expect(ran.asked.filter((call) => call.startsWith("PUT"))).toEqual([`PUT ${ENTRYPOINT}?dry_run=true`]);
    const put = anna.api.requests.find(({ method }) => method === "PUT");
    expect(put?.headers["authorization"]).toBe("Bearer cf-secret");
    expect(put?.body).toEqual(
      JSON.parse((await anna.does("compile always.json --to cloudflare-rule --host www.example.com")).out),
    );
  });

  it("asks for the rules of both phases where pages report their arms", async () => {
    const LATE = ENTRYPOINT.replace("http_response_headers_transform", "http_request_late_transform");
    const ran = await asked(
      {
        ...ZONE,
        ...Object.fromEntries(
          [ENTRYPOINT, LATE].flatMap((path) => [
            [`GET ${path}`, RULES],
            [`PUT ${path}?dry_run=true`, { status: 200, body: { result: {} } }],
          ]),
        ),
      },
      anna.api.url,
      adaptivePolicy({ exploration: { share: 0.1 }, reports: { share: 1, inject: false } }),
    );
    expect([ran.code, ran.err]).toEqual([0, ""]);
    expect(ran.out).toContain(
      "these 3 rules for the zone of www.example.com, in the phase http_request_late_transform.",
    );
    expect(ran.asked.filter((call) => call.startsWith("PUT"))).toEqual([
      `PUT ${ENTRYPOINT}?dry_run=true`,
      `PUT ${LATE}?dry_run=true`,
    ]);
  });

  it.each<[what: string, answers: Parameters<typeof asked>[0], code: number, sentence: string]>([
    [
      "a refused expression",
      {
        [`PUT ${ENTRYPOINT}?dry_run=true`]: {
          status: 400,
          body: {
            errors: [
              { message: "unknown function hash_in_range", source: { pointer: "/rules/3/expression" } },
              { message: "too many rules" },
            ],
          },
        },
      },
      1,
      "Cloudflare refuses these rules for www.example.com.\n  /rules/3/expression: unknown function hash_in_range\n  the whole body: too many rules\n",
    ],
    [
      "a token that may not write",
      { [`PUT ${ENTRYPOINT}?dry_run=true`]: { status: 403 } },
      3,
      "the token may not write it",
    ],
    ["a fault of the API", { [`PUT ${ENTRYPOINT}?dry_run=true`]: { status: 500, body: "no JSON" } }, 5, "status 500"],
    ["another's zone", { "GET /zones?name=example.com": { status: 200, body: { result: [] } } }, 3, "sees no zone of"],
    [
      "rules that changed",
      {
        [`GET ${ENTRYPOINT}`]: [RULES, { status: 200, body: { result: { version: "8", rules: [] } } }],
        [`PUT ${ENTRYPOINT}?dry_run=true`]: { status: 200, body: { result: {} } },
      },
      4,
      "They were version 7, and are version 8.",
    ],
  ])("%s", async (_, answers, code, sentence) => {
    const ran = await asked({ ...ZONE, [`GET ${ENTRYPOINT}`]: RULES, ...answers });
    expect([ran.code, ran.out]).toEqual([code, ""]);
    expect(ran.err).toContain(sentence);
  });

  it("an API that cannot be reached", async () => {
    const ran = await asked({}, "http://127.0.0.1:9");
    expect(ran.code).toBe(5);
    expect(ran.err).toContain("the API cannot be asked");
  });
});
