import fc, { type Arbitrary } from "fast-check";
import type { Request } from "./clients.ts";
import type { Field } from "./message.ts";
import type { Script } from "./origin.ts";

// Requests and answers by grammar: what RFC 9110 and 9112 let a client and an origin say, and a little that they do not.

/** How an origin answers, before its bytes are made. */
export interface Reply {
  readonly interim: readonly { status: number; fields: readonly Field[] }[];
  readonly version: "1.0" | "1.1";
  readonly status: number;
  readonly reason: string;
  readonly fields: readonly (readonly [name: string, value: string, before: string])[];
  /** `twice`: the length stands there twice. */
  readonly framing: "length" | "chunked" | "close" | "twice";
  readonly trailers: readonly Field[];
  readonly body: string;
  /** How much of the body comes, if not all: then the connection ends. */
  readonly cut: number | undefined;
  readonly pauseMs: number;
  readonly early: boolean;
  /** Where the origin falls silent for ever, if it does. */
  readonly silent: "before" | "in the head" | "in the body" | undefined;
  readonly end: Script["end"];
}

/** Whether a header's line goes on in the next one (RFC 9112, section 5.2). */
export const isFolded = ({ fields }: Reply): boolean => fields.some(([, , before]) => before.includes("\n"));

export interface Case {
  readonly request: Omit<Request, "body"> & { readonly body: string };
  readonly reply: Reply;
}

const { array, constant, constantFrom, integer, oneof, record, stringMatching, tuple, uniqueArray } = fc;
const { shuffledSubarray } = fc;
const rarely = <T>(usual: T, other: Arbitrary<T>, weight = 9): Arbitrary<T> =>
  oneof({ arbitrary: constant(usual), weight }, { arbitrary: other, weight: 1 });

const token = stringMatching(/^[A-Za-z][A-Za-z0-9!#$%&'*+.^_`|~-]{0,12}$/).map((name) => `X-${name}`);
const visible = stringMatching(/^[!-~]([ -~\t\x80-\xff]{0,30}[!-~\x80-\xff])?$/);
const value = oneof(
  visible,
  constantFrom("", "0", "a, b", "a;q=0.5", '"q, r"', "none", "*"),
  integer({ min: 1, max: 8_000 }).map((n) => "v".repeat(n)),
);
/** Values of answers with a character that HTTP forbids. */
const FORBIDDEN = ["a\x01b", "\x7f"];
export const isForbidden = ({ fields }: Reply): boolean => fields.some(([, one]) => FORBIDDEN.includes(one));

/** Names with a meaning, each with values that it may have. */
const RESPONSE_NAMES: Readonly<Record<string, readonly string[]>> = {
  "Set-Cookie": ["a=1; Path=/", "b=2; Expires=Wed, 21 Oct 2065 07:28:00 GMT"],
  "WWW-Authenticate": ["Basic realm=a", "Bearer"],
  "Cache-Control": ["no-store", "max-age=60, public", "no-transform"],
  Vary: ["Accept", "*", "Cookie, Origin"],
  Link: ["</a.css>; rel=preload", "</b>; rel=next"],
  "Content-Type": ["text/html", "text/html; charset=utf-8", "application/json", "x"],
  "Content-Language": ["de", "en, fr"],
  "Content-Security-Policy": ["default-src 'self'", "img-src *"],
  ETag: ['"a"', 'W/"b"', "c"],
  "Last-Modified": ["Wed, 21 Oct 2015 07:28:00 GMT", "yesterday"],
  Expires: ["0", "Wed, 21 Oct 2065 07:28:00 GMT"],
  Age: ["12"],
  Location: ["/next", "https://b.test/", "?q=\xe9"],
  Allow: ["GET, HEAD"],
  "Accept-Ranges": ["bytes", "none"],
  "Retry-After": ["1"],
  Server: ["own/1.0 (x)"],
  Via: ["1.1 a"],
  Warning: ['199 - "x"'],
  Refresh: ["9;url=/"],
  "Server-Timing": ["a;dur=1", 'b;desc="x, y"'],
  "Alt-Svc": ['h3=":1"', "clear"],
  "Strict-Transport-Security": ["max-age=0"],
  "Access-Control-Allow-Origin": ["*"],
  "Proxy-Authenticate": ["Basic realm=a"],
  Pragma: ["no-cache"],
  Date: ["Wed, 21 Oct 2015 07:28:00 GMT"],
  "X-Frame-Options": ["DENY"],
  "Keep-Alive": ["timeout=5"],
  Connection: ["keep-alive", "X-Hop"],
  "X-Hop": ["1"],
  Upgrade: ["h2c"],
  P3P: ["CP=x"],
  NEL: ["{}"],
};

const REQUEST_NAMES: Readonly<Record<string, readonly string[]>> = {
  Accept: ["text/html", "*/*", "text/html,application/xhtml+xml;q=0.9"],
  "Accept-Encoding": ["gzip, br", "identity"],
  "Accept-Language": ["de", "en;q=0.5, *"],
  Cookie: ["a=1", "b=2; c=3"],
  "Proxy-Authorization": ["Basic YTpi"],
  Pragma: ["no-cache"],
  Authorization: ["Basic YTpi", "Bearer x"],
  "Cache-Control": ["no-cache", "max-age=0"],
  TE: ["trailers"],
  "Content-Type": ["application/json", "text/plain;charset=utf-8"],
  "If-None-Match": ['"a"', "*"],
  "If-Modified-Since": ["Wed, 21 Oct 2015 07:28:00 GMT"],
  Range: ["bytes=0-1", "bytes=-5"],
  Origin: ["https://a.test", "null"],
  Referer: ["https://a.test/x?y"],
  "User-Agent": ["own/1"],
  "Sec-Fetch-Dest": ["document", "image"],
  "X-Forwarded-For": ["1.2.3.4"],
  Forwarded: ["for=1.2.3.4"],
  "CF-Ray": ["1"],
  "X-Real-IP": ["1.2.3.4"],
  Via: ["1.1 a"],
  From: ["a@b"],
  "Max-Forwards": ["1"],
  "X-Requested-With": ["XMLHttpRequest"],
};

/** What Go's clients send once, and never empty. */
const ONCE = new Set(["TE", "User-Agent"]);

/** Some fields, of which some have a meaning, some are empty, and some are repeated. */
function fieldsOf(names: Readonly<Record<string, readonly string[]>>): Arbitrary<Field[]> {
  const known = constantFrom(...Object.entries(names)).chain(([name, values]) =>
    ONCE.has(name)
      ? tuple(
          constant(name),
          constantFrom(...values).map((one) => [one]),
        )
      : tuple(
          constant(name),
          rarely(1, constantFrom(2, 3), 4).chain((n) =>
            array(oneof({ arbitrary: constantFrom(...values), weight: 4 }, constant("")), {
              minLength: n,
              maxLength: n,
            }),
          ),
        ),
  );
  const others = tuple(token, array(value, { minLength: 1, maxLength: 3 }));
  return uniqueArray(oneof({ arbitrary: known, weight: 3 }, others), {
    maxLength: 6,
    selector: ([name]) => name.toLowerCase(),
  })
    .map((lists) => lists.flatMap(([name, values]) => values.map((one): Field => [name, one])))
    .chain((all) => shuffledSubarray(all, { minLength: all.length }));
}

const body = oneof(
  { arbitrary: constantFrom(0, 1, 5, 300), weight: 4 },
  { arbitrary: constantFrom(4_095, 16_384, 70_000, 200_000), weight: 1 },
).map(patternOf);

/** So many bytes, of which no part is like another. */
function patternOf(size: number): string {
  return Array.from({ length: size }, (_, i) => String.fromCharCode(97 + ((i * 7 + (i >> 8)) % 26))).join("");
}

const METHODS = "GET HEAD POST PUT DELETE PATCH OPTIONS TRACE PROPFIND LOCK QUERY PURGE LINK M-SEARCH FOO".split(" ");
const STATUSES = "201 204 205 206 301 302 304 400 401 403 404 408 413 421 429 500 502 503 504".split(" ").map(Number);

/** A path without dot segments and a query that is not empty: the page says what becomes of those. */
const target = tuple(
  array(
    stringMatching(/^([!"$&-.0->@-~]|%[2-7][0-9A-F]){0,6}$/).filter((one) => !/^(\.|%2e){1,2}$/i.test(one)),
    { maxLength: 3 },
  ),
  oneof(constant(""), stringMatching(/^\?[!"$-~]{1,12}$/)),
)
  .map(([parts, query]) => `/${parts.join("/")}${query}`)
  // Go's clients cannot send such bytes where a path begins with //.
  .filter((one) => !/^\/\/[^?]*["<>\\^`{|}]/.test(one));

/** A host that is not the site's. */
export const FOREIGN_HOST = "elsewhere.example";

const anyRequest: Arbitrary<Case["request"]> = tuple(
  oneof(constant("GET"), constantFrom(...METHODS)),
  target,
  rarely("localhost", constantFrom("a.test", "b.test:8443", "A.test", FOREIGN_HOST), 1),
  fieldsOf(REQUEST_NAMES),
  constantFrom<Request["framing"]>("none", "length", "chunked"),
  body,
).map(([method, asked, host, fields, framing, text]) => {
  // curl sends none with HEAD.
  const hasBody = framing !== "none" && text !== "" && method !== "HEAD";
  return { method, target: asked, host, fields, framing: hasBody ? framing : "none", body: hasBody ? text : "" };
});

/** A page, as a browser asks for one. */
const pageRequest = anyRequest.map((one): Case["request"] => {
  const others = one.fields.filter(([name]) => name !== "Sec-Fetch-Dest");
  return { ...one, method: "GET", framing: "none", body: "", fields: [...others, ["Sec-Fetch-Dest", "document"]] };
});
const request = oneof({ arbitrary: anyRequest, weight: 2 }, pageRequest);

export const replies: Arbitrary<Reply> = record({
  interim: rarely(
    [],
    array(record({ status: constantFrom(100, 102, 103, 199), fields: fieldsOf({ Link: ["</a>; rel=preload"] }) }), {
      maxLength: 2,
    }),
  ),
  version: rarely<Reply["version"]>("1.1", constant("1.0")),
  status: oneof(
    { arbitrary: constant(200), weight: 5 },
    { arbitrary: constantFrom(...STATUSES), weight: 4 },
    { arbitrary: integer({ min: 200, max: 999 }), weight: 1 },
  ),
  reason: constantFrom("OK", "", "Fine, thanks"),
  fields: fieldsOf(RESPONSE_NAMES).chain((fields) =>
    tuple(
      ...fields.map(([name, one]) =>
        tuple(
          constant(name),
          // What is of one connection may vanish before anybody reads it.
          /^X-(?!Hop)/.test(name) ? rarely(one, constantFrom(...FORBIDDEN), 39) : constant(one),
          rarely(": ", constantFrom(":", ":  \t", ":\r\n "), 29),
        ),
      ),
    ),
  ),
  framing: constantFrom<Reply["framing"]>("length", "length", "chunked", "chunked", "close", "twice"),
  trailers: rarely<readonly Field[]>([], constant([["X-Sum", "1"]])),
  body,
  cut: rarely<number | undefined>(undefined, constantFrom(0, 1, 200), 19),
  pauseMs: rarely(0, constantFrom(1, 20)),
  early: rarely(false, constant(true)),
  silent: rarely<Reply["silent"]>(undefined, constantFrom("before", "in the head", "in the body"), 99),
  end: constantFrom<Script["end"]>("keep", "keep", "keep", "close"),
});

export const cases: Arbitrary<Case> = record({ request, reply: replies });

/** The bytes of a reply to a request with this method. */
export function scriptOf(reply: Reply, method: string): Script {
  const { status, body: text, cut, pauseMs, early, silent } = reply;
  const hasBody = method !== "HEAD" && status !== 204 && status !== 304;
  // HTTP/1.0 has no chunks.
  const framing = reply.version === "1.0" && reply.framing === "chunked" ? "close" : reply.framing;
  const whole = cut === undefined || !hasBody;
  // It says that it closes: a request that comes meanwhile would be lost.
  const closes = !whole || reply.end === "close" || reply.version === "1.0" || framing === "close";
  const length = [["Content-Length", `${status === 204 ? 0 : text.length}`] as const];
  const framed: Record<Reply["framing"], readonly Field[]> = {
    length,
    chunked: [["Transfer-Encoding", "chunked"]],
    close: [],
    twice: hasBody ? [...length, ...length] : length,
  };
  const linesOf = (fields: readonly (readonly [string, string, string?])[]): string =>
    fields.map(([name, one, before = ": "]) => `${name}${before}${one}\r\n`).join("");
  const end: readonly Field[] = [...framed[framing], ...(closes ? [["Connection", "close"] as const] : [])];
  const head = `HTTP/${reply.version} ${status} ${reply.reason}\r\n${linesOf(reply.fields)}${linesOf(end)}\r\n`;
  const sent = text.slice(0, cut);
  const middle = sent.length >> 1;
  const parts = [sent.slice(0, middle), sent.slice(middle)].filter((part) => part !== "");
  const chunks = parts.map((part) => `${part.length.toString(16)};x=y\r\n${part}\r\n`);
  const steps = [
    ...reply.interim.map((one) => `HTTP/1.1 ${one.status} Wait\r\n${linesOf(one.fields)}\r\n`),
    head,
    ...(!hasBody
      ? []
      : framing !== "chunked"
        ? parts
        : whole
          ? [...chunks, `0\r\n${linesOf(reply.trailers)}\r\n`]
          : chunks),
  ];
  const heads = reply.interim.length + 1;
  const said: Readonly<Record<NonNullable<typeof silent>, readonly string[]>> = {
    before: [],
    "in the head": [head.slice(0, head.length >> 1)],
    "in the body": steps.slice(0, heads + (parts.length > 0 ? 1 : 0)),
  };
  const played = silent === undefined ? steps : said[silent];
  // A whole answer ends, whatever its origin does then.
  const isSilent = played.length < steps.length || silent === "in the head";
  return {
    early,
    steps: played.flatMap((step) => (pauseMs > 0 ? [pauseMs, step] : [step])),
    end: isSilent ? "silent" : closes ? "close" : "keep",
  };
}
