import { once } from "node:events";
import * as http from "node:http";
import * as https from "node:https";
import { text } from "node:stream/consumers";
import { getCACertificates } from "node:tls";
import type { Endpoint } from "./endpoint.ts";
import { EXIT, Failure } from "./failure.ts";
import { refusal, unreachable } from "./refusal.ts";
import type { Check } from "./shape.ts";

export interface Ask {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below /_h3/v1, with the query. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the answer's body must be. */
  readonly is: Check;
  /** Health is told to everybody. */
  readonly isPublic?: boolean;
  /** Statuses beside the good ones whose body is an answer. */
  readonly alsoGood?: readonly number[];
  /** Whether it changes something: then a lost answer leaves open whether it did. */
  readonly changes?: boolean;
}

export interface Reply<T> {
  readonly status: number;
  readonly etag: string | undefined;
  readonly body: T;
}

/** Asks the API once: nothing is tried again, as a second try could undo what somebody did in between. @throws Failure */
export async function ask<T>(endpoint: Endpoint, question: Ask): Promise<Reply<T>> {
  if (endpoint.token === undefined && question.isPublic !== true)
    throw new Failure(
      EXIT.token,
      "There is no token: set H3_TOKEN, or give the name of its file with --token-file or H3_TOKEN_FILE.",
    );
  const answer = await exchange(endpoint, question);
  const body = parsed(answer.text);
  const isExpected = question.is(body);
  const isGood = answer.status >= 200 && answer.status < 300;
  if (!isGood && !(isExpected && question.alsoGood?.includes(answer.status) === true))
    throw refusal(endpoint, answer, body);
  if (!isExpected)
    throw new Failure(
      EXIT.unreachable,
      `${endpoint.origin} answers ${question.method} ${question.path} with something else than the API does` +
        `${body === undefined ? " (no JSON)" : ""}: is it the right server, and of this version?`,
      { status: answer.status },
    );
  return { status: answer.status, etag: answer.headers.etag, body: body as T };
}

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

async function exchange(endpoint: Endpoint, { method, path, body, headers, changes }: Ask): Promise<Answer> {
  const url = new URL(`/_h3/v1${path}`, endpoint.origin);
  const sent = body === undefined ? undefined : JSON.stringify(body);
  // Of all that follows, the answer's body included.
  const signal = AbortSignal.timeout(endpoint.timeoutMs);
  const options: https.RequestOptions = {
    method,
    signal,
    // A connection of its own that ends with the answer: nothing keeps the process alive.
    agent: false,
    headers: {
      accept: "application/json, application/problem+json",
      ...(sent === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(sent) }),
      ...(endpoint.token === undefined ? {} : { authorization: `Bearer ${endpoint.token}` }),
      ...headers,
    },
    ...(endpoint.ca === undefined ? {} : { ca: [...getCACertificates("default"), endpoint.ca] }),
  };
  try {
    const request = url.protocol === "https:" ? https.request(url, options) : http.request(url, options);
    request.end(sent);
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    // What ends the connection from here on is told by the response.
    request.on("error", () => undefined);
    return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) };
  } catch (error) {
    throw unreachable(endpoint, error, signal.aborted, changes === true);
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
