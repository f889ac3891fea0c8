import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { INITIAL_POLICY, type Policy } from "../policy.ts";
import { adaptivePolicy, flatTable } from "../testing.ts";
import { compiled, digitsBetween, TARGETS } from "./targets.ts";

const THRESHOLD: Policy = { ...INITIAL_POLICY, mode: "adaptive", method: { kind: "rtt-threshold", rttMs: 40 } };
const ALWAYS: Policy = { ...INITIAL_POLICY, mode: "fixed-h3", source: "for\neveryone" };
const NEVER = adaptivePolicy({ method: { kind: "gains", table: flatTable(-1, -1), mix: [0.5, 0.5] } });

interface CloudflareRule {
  readonly expression: string;
  readonly action_parameters: {
    readonly headers: { readonly "Alt-Svc": { readonly operation: string; readonly value?: string } };
  };
}
const cloudflareRules = (policy: Policy): (readonly [what: string, expression: string])[] =>
  (JSON.parse(compiled(policy, "cloudflare-rule")) as { rules: CloudflareRule[] }).rules.map(
    ({ expression, action_parameters: { headers } }) => [
      headers["Alt-Svc"].value ?? headers["Alt-Svc"].operation,
      expression,
    ],
  );
const PAGE = 'any(http.request.headers["sec-fetch-dest"][*] eq "document")';

describe("cloudflare-rule", () => {
  it("takes every other Alt-Svc away, and has a rule for each value, over TCP and over QUIC", () => {
    expect(cloudflareRules(THRESHOLD)).toEqual([
      ["remove", 'http.request.version ne ""'],
      [
        'h3=":443"; ma=60',
        `${PAGE} and http.request.version ne "HTTP/3" and ((cf.timings.client_tcp_rtt_msec ge 40 and cf.timings.client_tcp_rtt_msec lt 60001))`,
      ],
      [
        "clear",
        `${PAGE} and http.request.version eq "HTTP/3" and ((cf.timings.client_quic_rtt_msec ge 1 and cf.timings.client_quic_rtt_msec lt 40))`,
      ],
      [
        'h3=":443"; ma=60',
        `${PAGE} and http.request.version eq "HTTP/3" and ((cf.timings.client_quic_rtt_msec ge 40 and cf.timings.client_quic_rtt_msec lt 60001))`,
      ],
    ]);
  });

  it("asks for no RTT where it does not matter", () => {
    expect(cloudflareRules(ALWAYS).map(([, expression]) => expression)).toEqual([
      'http.request.version ne ""',
      `${PAGE} and http.request.version ne "HTTP/3"`,
      `${PAGE} and http.request.version eq "HTTP/3"`,
    ]);
  });
});

it("cloudflare-rule draws by the client's address, after all other rules, and names the arm to the page", () => {
  const { rules } = JSON.parse(
    compiled({ ...THRESHOLD, exploration: { share: 0.04 } }, "cloudflare-rule", "www.example.com"),
  ) as { rules: { expression: string; action_parameters: unknown }[] };
  const arm = (name: string, value: string): unknown => ({
    headers: {
      "Alt-Svc": { operation: "set", value },
      "Server-Timing": { operation: "add", value: `h3-arm;desc="${name}"` },
    },
  });
  expect(rules.length).toBe(6);
  expect(rules.slice(4).map(({ expression, action_parameters }) => [expression, action_parameters])).toEqual([
    [
      `http.host eq "www.example.com" and ${PAGE} and hash_in_range(0, 1000000, ip.src) lt 20000`,
      arm("offer", 'h3=":443"; ma=3600'),
    ],
    [
      `http.host eq "www.example.com" and ${PAGE} and hash_in_range(0, 1000000, ip.src) ge 980000`,
      arm("withhold", "clear"),
    ],
  ]);
});

describe("nginx", () => {
  it("has a pattern for each part of a span", () => {
    expect(compiled(THRESHOLD, "nginx")).toContain(`map "$http_sec_fetch_dest:$tcpinfo_rtt" $h3_offer {
    default "";
    # from 40000 to before 60000001
    "~^document:[4-9][0-9]{4}$" 'h3=":443"; ma=60';
    "~^document:[1-9][0-9]{5}$" 'h3=":443"; ma=60';
    "~^document:[1-9][0-9]{6}$" 'h3=":443"; ma=60';
    "~^document:[1-5][0-9]{7}$" 'h3=":443"; ma=60';
    "~^document:60000000$" 'h3=":443"; ma=60';
}
`);
  });

  it("offers at every RTT by two patterns", () => {
    expect(compiled(ALWAYS, "nginx")).toContain(`    # from 1
    "~^document:[1-9]$" 'h3=":443"; ma=3600';
    "~^document:[1-9][0-9]{1,}$" 'h3=":443"; ma=3600';
}
`);
  });
});

it("haproxy has a line for each value", () => {
  const lines = (policy: Policy): string[] =>
    compiled(policy, "haproxy")
      .split("\n")
      .filter((line) => line.startsWith("http-response"));
  const [removed, page] = [
    "http-response del-header alt-svc",
    "{ var(txn.h3_dest) -m str document } !{ ssl_fc_alpn h3 }",
  ];
  expect(lines(THRESHOLD)).toEqual([
    removed,
    `http-response set-header alt-svc 'h3=":443"; ma=60' if ${page} { fc_rtt(us) -m int 40000:60000000 }`,
  ]);
  expect(lines(ALWAYS)).toEqual([removed, `http-response set-header alt-svc 'h3=":443"; ma=3600' if ${page}`]);
  expect(lines(NEVER)).toEqual([removed]);
  expect(compiled(NEVER, "haproxy")).toContain("\n# It offers HTTP/3 to none of them.\n");
});

it("vcl takes every other Alt-Svc away, and looks at pages over TCP", () => {
  expect(compiled(THRESHOLD, "vcl")).toContain(`sub h3_offer {
  declare local var.rtt INTEGER;
  unset resp.http.Alt-Svc;
  if (transport.type == "tcp" && req.http.Sec-Fetch-Dest == "document") {
    set var.rtt = client.socket.tcpi_rtt;
    if ((var.rtt >= 40000 && var.rtt < 60000001)) {
      set resp.http.Alt-Svc = {"h3=":443"; ma=60"};
    }
  }
}
`);
});

it.each(TARGETS.filter((target) => target !== "cloudflare-rule"))(
  "%s: a policy's own words stay a comment",
  (target) => {
    expect(compiled(ALWAYS, target)).toContain("\n# The policy: for everyone\n");
  },
);

it.each([
  [1, 10, ["[1-9]"]],
  [10, 100, ["[1-9][0-9]{1}"]],
  [7, 8, ["7"]],
  [95, 1_203, ["9[5-9]", "[1-9][0-9]{2}", "1[0-1][0-9]{2}", "120[0-2]"]],
  [30_000, Infinity, ["[3-9][0-9]{4}", "[1-9][0-9]{5,}"]],
  [5, 5, []],
])("from %d to before %d", (from, to, patterns) => {
  expect(digitsBetween(from, to)).toEqual(patterns);
});

it("matches the numbers from one to before the other, and no others", () => {
  const number = fc.oneof(fc.integer({ min: 1, max: 1_300 }), fc.integer({ min: 1, max: 70_000_000 }));
  fc.assert(
    fc.property(number, fc.oneof(number, fc.constant(Infinity)), fc.array(number), (one, other, more) => {
      const [from, to] = [Math.min(one, other), Math.max(one, other)];
      const pattern = new RegExp(`^(${digitsBetween(from, to).join("|") || "(?!)"})$`);
      const near = [from, to].filter(Number.isFinite).flatMap((at) => [at - 1, at, at + 1]);
      for (const n of [...near, ...more]) expect(pattern.test(String(n)), `${n}`).toBe(n >= from && n < to);
    }),
    { numRuns: 500 },
  );
});
