import type { Policy } from "../core/policy.ts";
import { type Answer, type Answers, answersOf, type Span, type Unit } from "./answers.ts";
import { digitsBetween } from "./digits.ts";

/** What a policy is compiled to. */
export const TARGETS = ["cloudflare-rule", "nginx", "haproxy", "vcl"] as const;
export type Target = (typeof TARGETS)[number];

/** A policy as a configuration, with what it is for in its comments. Pure. */
export function compiled(policy: Policy, target: Target): string {
  const { unit, write } = WRITERS[target];
  return write(answersOf(policy, unit), policy);
}

/** Whether a server knows the RTT of a request over QUIC. Where it does not, it says nothing there, and offers end. */
export function knowsQuic(target: Target): boolean {
  return target === "cloudflare-rule" || target === "vcl";
}

interface Writer {
  /** Of the RTT that this server knows. */
  readonly unit: Unit;
  readonly write: (answers: Answers, policy: Policy) => string;
}

const WRITERS: Readonly<Record<Target, Writer>> = {
  "cloudflare-rule": { unit: "ms", write: cloudflareRule },
  nginx: { unit: "us", write: nginx },
  haproxy: { unit: "us", write: haproxy },
  vcl: { unit: "us", write: vcl },
};

/** Lines above a configuration that has comments. */
function heading(policy: Policy, mark: string, ...about: readonly string[]): string[] {
  const source = policy.source === undefined ? [] : [`The policy: ${policy.source.replaceAll(/\s+/g, " ")}`];
  return [
    "What adaptive-h3 answers a client whom nobody remembers, by the RTT of its connection (microseconds).",
    ...source,
    ...about,
  ].map((line) => `${mark} ${line}`);
}

/**
 * The rules of a zone's phase `http_response_headers_transform`, as Cloudflare's Rulesets API takes them. Fields:
 * cf.timings.client_tcp_rtt_msec, which is 0 over QUIC, and cf.timings.client_quic_rtt_msec, which is 0 over TCP.
 */
function cloudflareRule({ tcp, quic }: Answers): string {
  const rules = [
    ...tcp.map((answer) =>
      transform("TCP", 'http.request.version ne "HTTP/3"', "cf.timings.client_tcp_rtt_msec", answer),
    ),
    ...quic.map((answer) =>
      transform("QUIC", 'http.request.version eq "HTTP/3"', "cf.timings.client_quic_rtt_msec", answer),
    ),
  ];
  return `${JSON.stringify({ rules }, undefined, 2)}\n`;
}

function transform(over: string, version: string, field: string, { value, spans }: Answer): object {
  const ranges = spans?.map(({ from, to }) =>
    to === Infinity ? `${field} ge ${from}` : `(${field} ge ${from} and ${field} lt ${to})`,
  );
  return {
    description: `adaptive-h3, over ${over}: Alt-Svc ${value}`,
    expression: ranges === undefined ? version : `${version} and (${ranges.join(" or ")})`,
    action: "rewrite",
    action_parameters: { headers: { "Alt-Svc": { operation: "set", value } } },
    enabled: true,
  };
}

/** A map of nginx compares texts: so each span is a pattern for the digits of its numbers. */
function nginx({ tcp }: Answers, policy: Policy): string {
  const always = tcp.find(({ spans }) => spans === undefined);
  const patterns = tcp.flatMap(({ value, spans = [] }) =>
    spans.flatMap(({ from, to }) => [
      `    # from ${from}${to === Infinity ? "" : ` to before ${to}`}`,
      ...digitsBetween(from, to).map((pattern) => `    "~^${pattern}$" '${value}';`),
    ]),
  );
  return [
    ...heading(
      policy,
      "#",
      "This is for http { }. In each server { } that serves HTTP/3, and in each location { } with an add_header of its own:",
      "    add_header Alt-Svc $h3_offer;",
      "Over HTTP/3 nginx knows no RTT: nothing is said there, and an offer ends by its ma.",
    ),
    "map $tcpinfo_rtt $h3_offer {",
    `    default ${always === undefined ? '""' : `'${always.value}'`};`,
    ...patterns,
    "}",
    "",
  ].join("\n");
}

function haproxy({ tcp }: Answers, policy: Policy): string {
  const range = ({ from, to }: Span): string => (to === Infinity ? `${from}:` : `${from}:${to - 1}`);
  return [
    ...heading(
      policy,
      "#",
      "These lines are for the frontend whose bind lines serve HTTP/2 and HTTP/3.",
      "Over HTTP/3 HAProxy knows no RTT: nothing is said there, and an offer ends by its ma.",
    ),
    ...tcp.map(
      ({ value, spans }) =>
        `http-response set-header alt-svc '${value}'${
          spans === undefined ? "" : ` if { fc_rtt(us) -m int ${spans.map(range).join(" ")} }`
        }`,
    ),
    "",
  ].join("\n");
}

/** Fastly's VCL. `h3.alt_svc()` is not used: its offer lives for a day, and it overwrites this one. */
function vcl({ tcp, quic }: Answers, policy: Policy): string {
  const lines = (answers: readonly Answer[]): string[] =>
    answers.flatMap(({ value, spans }) => {
      const set = `set resp.http.Alt-Svc = {"${value}"};`;
      if (spans === undefined) return [`    ${set}`];
      const condition = spans.map(({ from, to }) =>
        to === Infinity ? `var.rtt >= ${from}` : `(var.rtt >= ${from} && var.rtt < ${to})`,
      );
      return [`    if (${condition.join(" || ")}) {`, `      ${set}`, "    }"];
    });
  const over = (answers: readonly Answer[], field: string): string[] =>
    answers.length === 0 ? [] : [`    set var.rtt = ${field};`, ...lines(answers)];
  return [
    ...heading(
      policy,
      "#",
      "To be called in vcl_deliver: call h3_offer;",
      "h3.alt_svc() must not be called: it replaces this header.",
    ),
    "sub h3_offer {",
    "  declare local var.rtt INTEGER;",
    '  if (transport.type == "quic") {',
    ...over(quic, "quic.rtt.smoothed"),
    "  } else {",
    ...over(tcp, "client.socket.tcpi_rtt"),
    "  }",
    "}",
    "",
  ].join("\n");
}
