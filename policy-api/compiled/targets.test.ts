import { describe, expect, it } from "vitest";
import { adaptivePolicy, flatTable } from "../core/testing.ts";
import { INITIAL_POLICY, type Policy } from "../core/policy.ts";
import { compiled, TARGETS } from "./targets.ts";

const THRESHOLD: Policy = { ...INITIAL_POLICY, mode: "adaptive", method: { kind: "rtt-threshold", rttMs: 40 } };
const ALWAYS: Policy = { ...INITIAL_POLICY, mode: "fixed-h3", source: "for\neveryone" };
const NEVER = adaptivePolicy({ method: { kind: "gains", table: flatTable(-1, -1), mix: [0.5, 0.5] } });

interface CloudflareRule {
  readonly expression: string;
  readonly action_parameters: { readonly headers: { readonly "Alt-Svc": { readonly value: string } } };
}
const cloudflareRules = (policy: Policy): CloudflareRule[] =>
  (JSON.parse(compiled(policy, "cloudflare-rule")) as { rules: CloudflareRule[] }).rules;

describe("cloudflare-rule", () => {
  it("is a rule for each value, over TCP and over QUIC", () => {
    expect(
      cloudflareRules(THRESHOLD).map(({ expression, action_parameters: { headers } }) => [
        headers["Alt-Svc"].value,
        expression,
      ]),
    ).toEqual([
      [
        'h3=":443"; ma=60',
        'http.request.version ne "HTTP/3" and ((cf.timings.client_tcp_rtt_msec ge 40 and cf.timings.client_tcp_rtt_msec lt 60001))',
      ],
      [
        "clear",
        'http.request.version eq "HTTP/3" and ((cf.timings.client_quic_rtt_msec ge 1 and cf.timings.client_quic_rtt_msec lt 40) or cf.timings.client_quic_rtt_msec ge 60001)',
      ],
      [
        'h3=":443"; ma=60',
        'http.request.version eq "HTTP/3" and ((cf.timings.client_quic_rtt_msec ge 40 and cf.timings.client_quic_rtt_msec lt 60001))',
      ],
    ]);
  });

  it("asks for no RTT where it does not matter", () => {
    expect(cloudflareRules(ALWAYS).map(({ expression }) => expression)).toEqual([
      'http.request.version ne "HTTP/3"',
      'http.request.version eq "HTTP/3"',
    ]);
  });
});

describe("nginx", () => {
  it("has a pattern for each part of a span", () => {
    expect(compiled(THRESHOLD, "nginx")).toContain(`map $tcpinfo_rtt $h3_offer {
    default "";
    # from 40000 to before 60000001
    "~^[4-9][0-9]{4}$" 'h3=":443"; ma=60';
    "~^[1-9][0-9]{5}$" 'h3=":443"; ma=60';
    "~^[1-9][0-9]{6}$" 'h3=":443"; ma=60';
    "~^[1-5][0-9]{7}$" 'h3=":443"; ma=60';
    "~^60000000$" 'h3=":443"; ma=60';
}
`);
  });

  it("offers always by its default", () => {
    expect(compiled(ALWAYS, "nginx")).toMatch(/\{\n {4}default 'h3=":443"; ma=3600';\n\}\n$/);
  });
});

it("haproxy has a line for each value", () => {
  expect(compiled(THRESHOLD, "haproxy")).toMatch(
    /\nhttp-response set-header alt-svc 'h3=":443"; ma=60' if \{ fc_rtt\(us\) -m int 40000:60000000 \}\n$/,
  );
  expect(compiled(ALWAYS, "haproxy")).toMatch(/\nhttp-response set-header alt-svc 'h3=":443"; ma=3600'\n$/);
  expect(compiled(NEVER, "haproxy")).not.toMatch(/^http-response/m);
});

it("vcl asks for the RTT of the transport at hand", () => {
  expect(compiled(THRESHOLD, "vcl")).toContain(`sub h3_offer {
  declare local var.rtt INTEGER;
  if (transport.type == "quic") {
    set var.rtt = quic.rtt.smoothed;
    if ((var.rtt >= 1 && var.rtt < 40000) || var.rtt >= 60000001) {
      set resp.http.Alt-Svc = {"clear"};
    }
    if ((var.rtt >= 40000 && var.rtt < 60000001)) {
      set resp.http.Alt-Svc = {"h3=":443"; ma=60"};
    }
  } else {
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
