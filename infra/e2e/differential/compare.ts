import { createHash } from "node:crypto";
import {
  type Exception,
  transparencyExceptions,
  transparencySection,
  transparencyTable,
} from "../transparency-page.ts";
import type { Answer, Request } from "./clients.ts";
import { type Field, valuesOf } from "./message.ts";
import { FOREIGN_HOST, isFolded, isForbidden, type Reply } from "./grammar.ts";
import type { Asked } from "./origin.ts";

/** How a request went: by which protocol, and who asked the origin. */
export interface Way {
  readonly over: Exception["over"][number];
  readonly by: Exception["by"][number];
}

/** A request's answer, and what the origin was asked for it. */
export interface Seen {
  readonly answer: Answer;
  readonly asked: readonly Asked[];
}

/** What is otherwise than asked directly: all values of a header, or what stands for another thing. */
export interface Difference {
  readonly side: "requests" | "responses";
  /** A header's name, or another thing's with a colon before it. */
  readonly what: string;
  readonly was: readonly string[];
  readonly is: readonly string[];
}

export interface Circumstances {
  readonly request: Request;
  readonly direct: Seen;
  readonly got: Seen;
  readonly way: Way;
  readonly originPort: number;
  readonly reply: Reply;
}

type Rule = (difference: Difference, at: Circumstances, line: Exception) => boolean;

/** The headers that a line of the page names, in lower case. */
const namedBy = ({ what }: Exception): string[] =>
  [...what.matchAll(/`([\w-]+)`/g)].map(([, name = ""]) => name.toLowerCase());

/** The fields of which the worker's runtime keeps one value. */
const LISTED = new Set(
  [...transparencySection("Repeated and empty fields").matchAll(/`([\w-]+)`/g)].map(([, name = ""]) =>
    name.toLowerCase(),
  ),
);

/** What the runtime makes of several lines: empty ones before another are dropped. Spaces at ends get lost. */
const joined = (values: readonly string[]): string =>
  values.reduce((all, one) => (all === "" ? one : `${all}, ${one}`), "").replaceAll(/,\s*/g, ",");

/** The cookies of all lines. */
const cookiesOf = (lines: readonly string[]): string =>
  lines.flatMap((one) => one.split(/; ?/).filter(Boolean)).join("; ");

const isJoined: Rule = ({ what, was, is }) =>
  LISTED.has(what) && was.length > 1 && is.length === 1 && joined(is) === joined(was);
const isEmpty: Rule = ({ what, was, is }) => LISTED.has(what) && joined(was) === joined(is) && was.includes("");

/** What Go makes of a lone Pragma. */
const isFromPragma: Rule = ({ what, was, is }) =>
  what === "cache-control" && joined(was) === "" && is.join() === "no-cache";

/** What each line of the page allows, by its key. Only a line that stands there allows anything. */
export const RULES: Readonly<Record<Difference["side"], Readonly<Record<string, Rule>>>> = {
  requests: {
    host: ({ what, is }, { originPort }) => what === "host" && is.join() === `127.0.0.1:${originPort}`,
    client: ({ what, is }, { request }, line) =>
      is.length === 1 && is[0] === ["127.0.0.1", "127.0.0.1", "https", request.host][namedBy(line).indexOf(what)],
    forgeable: ({ what, is }) =>
      is.length === 0 &&
      /^(cf-|mf-|x-forwarded-|(forwarded|true-client-ip|x-real-ip)$)/.test(what.replaceAll(/[^a-z0-9]/g, "-")),
    "cdn-loop": ({ what, is }) => what === "cdn-loop" && /^adaptive-h3-[A-Z2-7]{26}$/.test(is.join()),
    "hop-by-hop": ({ what, is }, _, line) => is.length === 0 && namedBy(line).includes(what),
    cookies: ({ what, was, is }) => what === "cookie" && is.length === 1 && cookiesOf(is) === cookiesOf(was),
    "joined-request": isJoined,
    "empty-request": isEmpty,
    pragma: isFromPragma,
    "no-body": ({ what, was, is }) => what === "content-length" && was.length === 0 && is.join() === "0",
  },
  responses: {
    "alt-svc": ({ what, is }, { request, direct, way }) =>
      what === "alt-svc" && is.length === 0 && decision(request, direct.answer, way) === undefined,
    "hop-by-hop-response": ({ what, is }, _, line) => is.length === 0 && namedBy(line).includes(what),
    "connection-options": ({ what, is }, { direct }) =>
      is.length === 0 &&
      valuesOf(direct.answer.fields, "connection")
        .join()
        .toLowerCase()
        .split(/[\s,]+/)
        .includes(what),
    "early-hints": ({ what, is }) => what === ":interim" && is.join() === "",
    "trailers-response": ({ what, is }) => what === ":trailers" && is.join() === "",
    "joined-response": isJoined,
    "split-response": ({ what, was, is }) => LISTED.has(what) && is.length > 1 && joined(is) === joined(was),
    "empty-response": (one, at, line) =>
      isEmpty(one, at, line) ||
      (one.what === "set-cookie" && one.is.join("\r") === one.was.filter((value) => value !== "").join("\r")),
    "no-content-length": ({ what, is }, { direct }) =>
      what === "content-length" && is.length === 0 && [204, 304].includes(direct.answer.status),
    "reset-content": ({ what, is }, { direct }) =>
      direct.answer.status === 205 &&
      (/^:(body|trailers)$/.test(what)
        ? is[0] === ""
        : what === ":whole" || (what === "content-length" && is[0] === "0")),
    "no-content": ({ what, was, is }, { direct }) =>
      what === "content-length" && was.length === 0 && is.join() === "0" && direct.answer.body.length === 0,
    date: ({ what, was, is }) => what === "date" && joined(was) === "" && is.length === 1,
    "pragma-response": isFromPragma,
  },
};

const LINES = { requests: transparencyExceptions("requests"), responses: transparencyExceptions("responses") };

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
const partsOf = (target: string): string[] => target.split(/(?<=^[^?]*)\?/);

/** The characters that go encoded, in a path and in a query, as the page's table of targets shows. It says of ` in words. */
const ENCODED: readonly Set<string>[] = [new Set("`"), new Set()];
for (const cells of transparencyTable("Paths and queries")) {
  const [sent = [], asked = []] = cells.map((cell) => partsOf(/`(.+)`/.exec(cell)?.[1] ?? ""));
  for (const [i, part] of sent.entries())
    for (const one of part)
      if (asked[i]?.includes(percent(one)) === true && !asked[i].includes(one)) ENCODED[i]?.add(one);
}

/** A request line with all of these encoded. */
const encoded = (line: string): string =>
  partsOf(line)
    .map((part, i) => part.replaceAll(/[^]/g, (one) => (ENCODED[i]?.has(one) === true ? percent(one) : one)))
    .join("?");

/** The statuses of responses that are not the origin's. */
const OWN = new Set(transparencyTable("Responses of our own").map(([status]) => Number(status)));

/** How often each line of the page was needed, and how often a page was decided. */
export const needed = new Map<string, number>();

/** What was otherwise than asked directly, and no line of the page allows. */
export function unexplained(at: Circumstances): Difference[] {
  const { request, direct, got, way, reply } = at;
  const isForeign = request.host === FOREIGN_HOST;
  const isHead = reply.silent !== "before" && reply.silent !== "in the head";
  // The worker's runtime reads no folded head, so that the edge asks the origin itself.
  const isAskedAgain = isHead && isFolded(reply) && askerOf(request, way) === "worker";
  const times = isForeign ? 0 : direct.asked.length * (isAskedAgain ? 2 : 1);
  const found = differ("requests", ":times", times, got.asked.length);
  const own = isForeign ? 421 : isHead && isForbidden(reply) ? 502 : undefined;
  if (own !== undefined) return [...found, ...differ("responses", ":status", own, got.answer.status)];
  const seen: Circumstances = isAskedAgain ? { ...at, way: { ...way, by: "edge" } } : at;
  return [...found, ...differences(seen).filter((one) => !isAllowed(one, seen))];
}

function isAllowed(one: Difference, at: Circumstances): boolean {
  if (one.what === ":line" && encoded(one.was.join()) === encoded(one.is.join())) return true;
  const by = askerOf(at.request, at.way);
  for (const line of LINES[one.side].values())
    if (line.over.includes(at.way.over) && line.by.includes(by) && RULES[one.side][line.key]?.(one, at, line)) {
      count(line.key);
      return true;
    }
  return false;
}

const count = (key: string): unknown => needed.set(key, (needed.get(key) ?? 0) + 1);

function differences(at: Circumstances): Difference[] {
  const { direct, got } = at;
  const [was, is] = [direct.asked[0], got.asked[0]];
  const asked =
    was === undefined || is === undefined
      ? []
      : [
          ...differ("requests", ":line", was.start, is.start),
          ...differInFields("requests", was.fields, is.fields),
          // An origin that answers early has the rest later, if at all.
          ...(was.whole && is.whole ? differ("requests", ":body", short(was.body), short(is.body)) : []),
        ];
  return [...asked, ...differInAnswers(withDecision(at), got.answer)];
}

/** Who asks the origin: what cannot be a page, the edge asks for by itself. */
const askerOf = ({ method, framing }: Request, { by }: Way): Way["by"] =>
  /^(GET|HEAD)$/.test(method) && framing === "none" ? by : "edge";

/** What the worker decides, as the policy says: to offer, on a page to which a header can be added. Undefined: nothing. */
function decision(request: Request, { status }: Answer, way: Way): string | undefined {
  const { method, fields, host } = request;
  const destination = valuesOf(fields, "sec-fetch-dest");
  const isPage =
    destination.length === 0
      ? valuesOf(fields, "accept").join().includes("text/html")
      : destination.join() === "document";
  if (askerOf(request, way) !== "worker" || method !== "GET" || !isPage || status > 599) return undefined;
  return `h3=":${/:(\d+)$/.exec(host)?.[1] ?? "443"}"; ma=60`;
}

/** The origin's answer with what is decided in the place of its own offers. */
function withDecision({ request, direct: { answer }, way }: Circumstances): Answer {
  const offer = decision(request, answer, way);
  if (offer === undefined) return answer;
  count("decided");
  return { ...answer, fields: [...answer.fields.filter(([name]) => name !== "alt-svc"), ["alt-svc", offer]] };
}

function differInAnswers(was: Answer, is: Answer): Difference[] {
  // An origin that breaks off: an answer of our own says that nothing came; what began to come must be seen to break.
  if (was.status === 0 && OWN.has(is.status)) return [];
  if (!was.whole && !is.whole && (is.status === 0 || is.status === was.status)) return [];
  // Another answer's headers say no more.
  if (was.status !== is.status) return differ("responses", ":status", was.status, `${is.status} ${is.error}`);
  return [
    ...differ("responses", ":interim", was.interim.join(), is.interim.join()),
    ...differInFields("responses", withoutFraming(was.fields), withoutFraming(is.fields)),
    ...differ("responses", ":body", short(was.body), short(is.body)),
    ...differ("responses", ":trailers", was.trailers.join(";"), is.trailers.join(";")),
    ...differ("responses", ":whole", was.whole, `${is.whole}${is.error}`),
  ];
}

const differ = (
  side: Difference["side"],
  what: string,
  was: string | number | boolean,
  is: typeof was,
): Difference[] => (String(was) === String(is) ? [] : [{ side, what, was: [String(was)], is: [String(is)] }]);

/** The names whose values differ, with all of them. */
function differInFields(side: Difference["side"], before: readonly Field[], after: readonly Field[]): Difference[] {
  return [...new Set([...before, ...after].map(([name]) => name))]
    .filter((name) => name !== "x-case")
    .map((what) => ({ side, what, was: valuesOf(before, what), is: valuesOf(after, what) }))
    .filter(({ was, is }) => was.length !== is.length || was.some((one, i) => one !== is[i]));
}

/**
 * Transfer-Encoding is of one connection, and Connection: close too: that the body is whole is compared instead. A length said twice
 * may be said once (RFC 9110, section 8.6).
 */
const withoutFraming = (fields: readonly Field[]): Field[] =>
  fields.filter(
    ([name, value], i) =>
      name !== "transfer-encoding" &&
      !(name === "connection" && value === "close") &&
      !(name === "content-length" && fields.findIndex(([other]) => other === name) < i),
  );

const short = (body: Buffer): string =>
  body.length <= 40
    ? body.toString("latin1")
    : `${body.length} bytes, ${createHash("sha256").update(body).digest("hex").slice(0, 8)}`;
