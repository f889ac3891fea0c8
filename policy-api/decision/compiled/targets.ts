import type { Policy } from "../policy.ts";
import {
  answersOf,
  drawnAnswersOf,
  DRAWS,
  type RttSpan,
  type RttUnit,
  type RuleAnswer,
  type RuleAnswers,
} from "./answers.ts";
import { ARM_HEADER } from "../assignment.ts";
import { responsesOf, rulesJson, transform } from "./cloudflare.ts";

/** What a policy is compiled to. */
export const TARGETS = ["cloudflare-rule", "nginx", "haproxy", "vcl"] as const;
export type Target = (typeof TARGETS)[number];

/**
 * A policy as a configuration, with what it is for in its comments. Pure.
 *
 * @param host The only host that a zone's rules are for. Undefined: all of the zone. The other targets stand where their host is.
 */
export function compiled(policy: Policy, target: Target, host?: string): string {
  const { unit, write } = WRITERS[target];
  return write(answersOf(policy, unit), policy, host);
}

/** Whether the rule answers requests over HTTP/3 too. Where it does not, it says nothing there, and offers end by their ma. */
export function answersQuic(target: Target): boolean {
  return target === "cloudflare-rule";
}

/** Whether the rule can draw clients. */
export function canDraw(target: Target): boolean {
  return target === "cloudflare-rule";
}

interface Writer {
  /** Of the RTT that this server knows. */
  readonly unit: RttUnit;
  readonly write: (answers: RuleAnswers, policy: Policy, host?: string) => string;
}

const WRITERS: Readonly<Record<Target, Writer>> = {
  "cloudflare-rule": { unit: "ms", write: cloudflareRule },
  nginx: { unit: "us", write: nginx },
  haproxy: { unit: "us", write: haproxy },
  vcl: { unit: "us", write: vcl },
};

/** Lines above a configuration that has comments. */
function heading({ source }: Policy, { tcp }: RuleAnswers, ...about: readonly string[]): string[] {
  return [
    "What adaptive-h3 answers a client whom nobody remembers, by the RTT of its connection (microseconds), on pages alone.",
    "Over HTTP/3 nothing is said, and an offer ends by its ma.",
    ...(tcp.length === 0 ? ["It offers HTTP/3 to none of them."] : []),
    ...(source === undefined ? [] : [`The policy: ${source.replaceAll(/\s+/g, " ")}`]),
    ...about,
  ].map((line) => `# ${line}`);
}

/**
 * The rules of a zone's phase `http_response_headers_transform`, as Cloudflare's Rulesets API takes them. The first one takes away
 * every other Alt-Svc. Fields: cf.timings.client_tcp_rtt_msec, which is 0 over QUIC, and cf.timings.client_quic_rtt_msec, which is
 * 0 over TCP. Rules run in order, and a later one overwrites what an earlier one set: so the arms come last.
 */
function cloudflareRule({ tcp, quic }: RuleAnswers, policy: Policy, host?: string): string {
  const everywhere = host === undefined ? [] : [responsesOf(host)];
  const setting = (over: string, version: string, field: string, { value, spans }: RuleAnswer): object => {
    const ranges = spans?.map(({ from, to }) =>
      to === Infinity ? `${field} ge ${from}` : `(${field} ge ${from} and ${field} lt ${to})`,
    );
    const rtt = ranges === undefined ? [] : [`(${ranges.join(" or ")})`];
    const conditions = [...everywhere, CLOUDFLARE_PAGE, version, ...rtt].join(" and ");
    return transform(`over ${over}: ${value}`, conditions, { "Alt-Svc": { operation: "set", value } });
  };
  return rulesJson([
    transform("no other Alt-Svc", responsesOf(host), { "Alt-Svc": { operation: "remove" } }),
    ...tcp.map((answer) =>
      setting("TCP", 'http.request.version ne "HTTP/3"', "cf.timings.client_tcp_rtt_msec", answer),
    ),
    ...quic.map((answer) =>
      setting("QUIC", 'http.request.version eq "HTTP/3"', "cf.timings.client_quic_rtt_msec", answer),
    ),
    ...drawnAnswersOf(policy).map(({ arm, from, to, value }) =>
      transform(`arm ${arm}: ${value}`, [...everywhere, CLOUDFLARE_PAGE, isDrawn(from, to)].join(" and "), {
        "Alt-Svc": { operation: "set", value },
        "Server-Timing": { operation: "add", value: `${ARM_HEADER};desc="${arm}"` },
      }),
    ),
  ]);
}

/**
 * The rules of a zone's phase `http_request_late_transform` for a policy whose pages report: they tell the worker, with each report, the
 * arm of whoever sends it, and take away what a visitor wrote there, of whatever path. Each request has one of them. Undefined: its pages do
 * not report. Pure.
 *
 * @param policy One of which notCompiled() says nothing.
 */
export function armsOfReports(policy: Policy, host?: string): string | undefined {
  if (policy.reports.share <= 0) return undefined;
  const everywhere = host === undefined ? [] : [responsesOf(host)];
  const drawn = drawnAnswersOf(policy);
  const isUndrawn = drawn.map(({ from, to }) => isNotDrawn(from, to)).join(" and ");
  return rulesJson([
    transform("no arm", [...everywhere, `(http.request.uri.path ne ${REPORT_PATH} or (${isUndrawn}))`].join(" and "), {
      [ARM_HEADER]: { operation: "remove" },
    }),
    ...drawn.map(({ arm, from, to }) =>
      transform(
        `a report of arm ${arm}`,
        [...everywhere, `http.request.uri.path eq ${REPORT_PATH}`, isDrawn(from, to)].join(" and "),
        { [ARM_HEADER]: { operation: "set", value: arm } },
      ),
    ),
  ]);
}

const REPORT_PATH = '"/_h3/v1/report"';

/** Whether the client of a request drew a number from `from` to before `to`: one of them is an end of what can be drawn. */
function isDrawn(from: number, to: number): string {
  return `${CLIENT_DRAW} ${to === DRAWS ? `ge ${from}` : `lt ${to}`}`;
}

function isNotDrawn(from: number, to: number): string {
  return `${CLIENT_DRAW} ${to === DRAWS ? `lt ${from}` : `ge ${to}`}`;
}

/**
 * A client's draw: the same for an address as long as Cloudflare's hash is. Whether DRAWS itself can be drawn is not documented; it would be one client
 * in a million. The function takes one field (octorules-wirefilter 0.7 refuses more), so the draw cannot be salted.
 */
const CLIENT_DRAW = `hash_in_range(0, ${DRAWS}, ip.src)`;

const CLOUDFLARE_PAGE = 'any(http.request.headers["sec-fetch-dest"][*] eq "document")';

/** A map of nginx compares texts: so each span is a pattern for the digits of its numbers. Over HTTP/3 there are no digits. */
function nginx(answers: RuleAnswers, policy: Policy): string {
  const patterns = answers.tcp.flatMap(({ value, spans }) =>
    (spans ?? [{ from: 1, to: Infinity }]).flatMap(({ from, to }) => [
      `    # from ${from}${to === Infinity ? "" : ` to before ${to}`}`,
      ...digitsBetween(from, to).map((pattern) => `    "~^document:${pattern}$" '${value}';`),
    ]),
  );
  return [
    ...heading(
      policy,
      answers,
      "This is for http { }. In each server { } that serves HTTP/3, and in each location { } with an add_header of its own:",
      "    proxy_hide_header Alt-Svc;",
      "    add_header Alt-Svc $h3_offer;",
    ),
    'map "$http_sec_fetch_dest:$tcpinfo_rtt" $h3_offer {',
    '    default "";',
    ...patterns,
    "}",
    "",
  ].join("\n");
}

function haproxy(answers: RuleAnswers, policy: Policy): string {
  const range = ({ from, to }: RttSpan): string => (to === Infinity ? `${from}:` : `${from}:${to - 1}`);
  return [
    ...heading(policy, answers, "These lines are for the frontend whose bind lines serve HTTP/2 and HTTP/3."),
    "http-request set-var(txn.h3_dest) req.hdr(sec-fetch-dest)",
    "http-response del-header alt-svc",
    ...answers.tcp.map(
      ({ value, spans }) =>
        `http-response set-header alt-svc '${value}' if { var(txn.h3_dest) -m str document } !{ ssl_fc_alpn h3 }${
          spans === undefined ? "" : ` { fc_rtt(us) -m int ${spans.map(range).join(" ")} }`
        }`,
    ),
    "",
  ].join("\n");
}

/**
 * Fastly's VCL. `h3.alt_svc()` is not used: its offer lives for a day, and it overwrites this one. The header of an earlier
 * vcl_deliver, on a shield, is taken away: it was for another client.
 */
function vcl(answers: RuleAnswers, policy: Policy): string {
  const lines = answers.tcp.flatMap(({ value, spans }) => {
    const set = `set resp.http.Alt-Svc = {"${value}"};`;
    if (spans === undefined) return [`    ${set}`];
    const condition = spans.map(({ from, to }) =>
      to === Infinity ? `var.rtt >= ${from}` : `(var.rtt >= ${from} && var.rtt < ${to})`,
    );
    return [`    if (${condition.join(" || ")}) {`, `      ${set}`, "    }"];
  });
  return [
    ...heading(
      policy,
      answers,
      "To be called in vcl_deliver: call h3_offer;",
      "h3.alt_svc() must not be called: it replaces this header.",
    ),
    "sub h3_offer {",
    "  declare local var.rtt INTEGER;",
    "  unset resp.http.Alt-Svc;",
    '  if (transport.type == "tcp" && req.http.Sec-Fetch-Dest == "document") {',
    "    set var.rtt = client.socket.tcpi_rtt;",
    ...lines,
    "  }",
    "}",
    "",
  ].join("\n");
}

/**
 * Patterns that match the decimal digits of the whole numbers from `from` to before `to`, and no others: regular expressions as
 * PCRE and JavaScript read them, without anchors. Pure.
 *
 * @param from 1 or more.
 * @param to Infinity: without an end.
 */
export function digitsBetween(from: number, to: number): string[] {
  if (to === Infinity) {
    const digits = String(from).length;
    return [...digitsBetween(from, 10 ** digits), `[1-9][0-9]{${digits},}`];
  }
  const patterns: string[] = [];
  // Each turn takes as many numbers as one pattern can have: all that begin like `next` and end in any digits.
  for (let next = from; next < to;) {
    let size = 1;
    while (next % (size * 10) === 0 && next + size * 10 <= to) size *= 10;
    // And the same with the other last digits before those.
    let times = 1;
    const digit = Math.floor(next / size) % 10;
    while (digit + times < 10 && next + (times + 1) * size <= to) times++;
    const head = String(next).slice(0, String(next).length - String(size).length);
    const any = String(size).length - 1;
    patterns.push(
      head + (times === 1 ? String(digit) : `[${digit}-${digit + times - 1}]`) + (any === 0 ? "" : `[0-9]{${any}}`),
    );
    next += times * size;
  }
  return patterns;
}
