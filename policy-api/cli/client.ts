import { hc, type PickResponseByStatusCode } from "hono/client";
import { API_PATH } from "../api/contract/access.ts";
import type { ContractApi } from "../api/contract/api.ts";
import { isReplyOf, routeOf } from "../api/contract/reply-of.ts";
import type { Endpoint } from "./endpoint.ts";
import { exchange } from "./exchange.ts";
import { EXIT, Failure } from "./failure.ts";
import { refusal } from "./refusal.ts";

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
  if (endpoint.token === undefined && route.scope !== undefined)
    throw new Failure(
      EXIT.token,
      "There is no token: set H3_TOKEN, or give the name of its file with --token-file or H3_TOKEN_FILE.",
    );
  const answer = await exchange(endpoint, url, init, route.scope === "write");
  const { status, headers, text } = answer;
  const body = parseJson(text);
  if (isReplyOf(route, status, body)) return new Response(text, { status, headers: { etag: headers.etag ?? "" } });
  if (status < 200 || status >= 300) throw refusal(endpoint, answer, body);
  throw new Failure(
    EXIT.unreachable,
    `${endpoint.origin} answers ${method} ${url.pathname.slice(API_PATH.length)}${url.search} with something else than ` +
      `the API does${body === undefined ? " (no JSON)" : ""}: is it the right server, and of this version?`,
    { status },
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
