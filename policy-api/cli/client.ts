import { hc, type PickResponseByStatusCode } from "hono/client";
import { once } from "node:events";
import * as http from "node:http";
import * as https from "node:https";
import { text as textOf } from "node:stream/consumers";
import { getCACertificates } from "node:tls";
import { API_PATH } from "../api/contract/access.ts";
import { type ContractApi, hasShape, isReplyOf, routeOf } from "../api/contract/api.ts";
import type { Endpoint } from "./endpoint.ts";
import { EXIT, type ExitCode, Failure } from "./failure.ts";
import { ProblemDetails } from "../api/contract/routes.ts";
import { printable } from "./table.ts";

/** The replies that a caller gets; every other reply is thrown. (503 is the reply of a server that is not well.) */
type Answered = PickResponseByStatusCode<ContractApi, 200 | 201 | 202 | 503>;

/**
 * The API's calls, which Hono derives from the contract. Each is sent once, as a second try could undo what somebody did in
 * between. A call rejects with a Failure unless the contract has its answer.
 */
export function clientOf(endpoint: Endpoint) {
  return hc<Answered>(endpoint.origin + API_PATH, {
    fetch: (url: string | URL | Request, init: RequestInit = {}) =>
      ask(endpoint, new URL(url instanceof Request ? url.url : url), init),
  });
}

async function ask(endpoint: Endpoint, url: URL, init: RequestInit): Promise<Response> {
  const { method = "GET" } = init;
  const route = routeOf(method, url.pathname);
  if (endpoint.token === undefined && route.scope !== undefined) throw noToken();
  const answer = await exchange(endpoint, url, init, route.scope === "write");
  const { status, headers, text } = answer;
  const body = parseJson(text);
  if (isReplyOf(route, status, body)) return new Response(text, { status, headers: { etag: headers.etag ?? "" } });
  throw refusal(endpoint, answer, body);
}

export function noToken(): Failure {
  return new Failure(
    EXIT.token,
    "There is no token: set H3_TOKEN, or give the name of its file with --token-file or H3_TOKEN_FILE.",
  );
}

/** Undefined: it is no JSON. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

type HttpReply = Awaited<ReturnType<typeof exchange>>;

/**
 * Sends a request and reads the whole answer.
 *
 * @param changes whether the request changes something
 * @throws Failure
 */
async function exchange(
  { origin, token, ca, timeoutMs }: Endpoint,
  url: URL,
  { method, headers, body }: RequestInit,
  changes: boolean,
) {
  // The time limit includes the answer's body.
  const signal = AbortSignal.timeout(timeoutMs);
  const options: https.RequestOptions = {
    method: method ?? "GET",
    signal,
    // The connection ends with the answer, so that it does not keep the process alive.
    agent: false,
    headers: {
      accept: "application/json, application/problem+json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...Object.fromEntries(new Headers(headers)),
    },
    ...(ca === undefined ? {} : { ca: [...getCACertificates("default"), ca] }),
  };
  try {
    const request = url.protocol === "https:" ? https.request(url, options) : http.request(url, options);
    request.end(body);
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    // From here on the response reports errors.
    request.on("error", () => undefined);
    return { status: response.statusCode ?? 0, headers: response.headers, text: await textOf(response) };
  } catch (error) {
    throw unreachable(origin, error, signal.aborted ? timeoutMs : undefined, changes);
  }
}

/** By their codes. Without a connection the server cannot have changed anything. */
const FAILURES: readonly (readonly [code: RegExp, why: string, isConnected: boolean])[] = [
  [/^ECONNREFUSED$/, "Nothing answers there (connection refused): is it running?", false],
  [/^ENOTFOUND$/, "Its name is not known.", false],
  [/^EAI_AGAIN$/, "Its name cannot be looked up now.", false],
  [/^E(HOST|NET)UNREACH$/, "There is no way to it from here.", false],
  [/^EPROTO$|^ERR_SSL/, "It does not speak TLS there.", false],
  [/ALTNAME/, "Its certificate is for another name.", false],
  [/^CERT_HAS_EXPIRED$/, "Its certificate has expired.", false],
  [
    /CERT|SIGNED|SIGNATURE|ISSUER|ERR_TLS/,
    "Its certificate is not trusted: give the root certificate with --ca.",
    false,
  ],
  [/^ETIMEDOUT$/, "It does not answer.", true],
  [/^(ECONNRESET|EPIPE)$/, "It closed the connection without an answer.", true],
];

/**
 * What a failed connection means to the user.
 *
 * @param lateMs the time limit, if the call took longer
 * @param changes whether the request changes something
 */
export function unreachable(origin: string, error: unknown, lateMs: number | undefined, changes: boolean): Failure {
  const code = codeOf(error);
  const [, why, isConnected] = FAILURES.find(([known]) => known.test(code)) ?? [
    code,
    `The connection failed (${code}).`,
    true,
  ];
  const said = lateMs === undefined ? why : `It does not answer within ${lateMs / 1000} s.`;
  const isOpen = changes && (lateMs !== undefined || isConnected);
  return new Failure(
    EXIT.unreachable,
    `${origin} cannot be reached. ${said}`,
    isOpen ? { detail: "Whether it made the change is not known: `status` and `list` tell." } : {},
  );
}

function codeOf(error: unknown): string {
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  if (typeof code === "string") return code;
  // If several addresses were tried, the first error counts, as they seldom differ.
  return Array.isArray(errors) && errors.length > 0 ? codeOf(errors[0]) : "no reason given";
}

/** What a refusal, or an answer that the API does not give, means to the user. */
export function refusal(endpoint: Endpoint, { status, headers }: Omit<HttpReply, "text">, body: unknown): Failure {
  const { token, origin } = endpoint;
  // A server may repeat the token, which must not be printed.
  const clean = (theirs: string): string =>
    printable(token === undefined ? theirs : theirs.replaceAll(token, "[the token]"));
  const problem = hasShape(ProblemDetails, body) ? body : undefined;
  const title = (): string => {
    if (status >= 300 && status < 400)
      return `${origin} sends on to ${clean(headers.location ?? "nowhere")} (${status}): give the address itself.`;
    if (status === 401)
      return `The server does not know this token (${status}): is its entry in POLICY_TOKENS, and is it the file that H3_TOKEN_FILE names?`;
    if (status === 403) return `The server does not allow this (${status}).`;
    if (status === 429) {
      const wait = headers["retry-after"];
      return `There were too many failed attempts (${status})${wait === undefined ? "" : `: try again in ${clean(wait)} s`}.`;
    }
    if (status >= 500) return `${origin} cannot answer now (${status}).`;
    if (problem === undefined)
      return `${origin} answers ${status}, and not as this version of the API does: is it the right server? Does a route lead ${API_PATH}/* to its worker?`;
    return `The server refuses this (${status}).`;
  };
  return new Failure(exitCodeOf(status, problem !== undefined), title(), {
    status,
    detail: problem && clean(problem.detail),
    faults: problem?.faults?.map(({ pointer, message }) => ({ pointer: clean(pointer), message: clean(message) })),
  });
}

function exitCodeOf(status: number, isApi: boolean): ExitCode {
  if (status === 401 || status === 403 || status === 429) return EXIT.token;
  if (status === 412) return EXIT.changed;
  return isApi && status >= 400 && status < 500 ? EXIT.refused : EXIT.unreachable;
}
