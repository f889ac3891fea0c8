import { once } from "node:events";
import * as http from "node:http";
import * as https from "node:https";
import { text } from "node:stream/consumers";
import { getCACertificates } from "node:tls";
import type { Endpoint } from "./endpoint.ts";
import { unreachable } from "./unreachable.ts";

export type Answer = Awaited<ReturnType<typeof exchange>>;

/**
 * Sends a request and reads the whole answer.
 *
 * @param changes whether the request changes something
 * @throws Failure
 */
export async function exchange(
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
    return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) };
  } catch (error) {
    throw unreachable(origin, error, signal.aborted ? timeoutMs : undefined, changes);
  }
}
