import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { json } from "node:stream/consumers";

/** Calls the API of a worker over workerd's own socket. Returns the status and the body's JSON. */
export async function callApi(
  socketPath: string,
  token: string,
  method: "GET" | "PUT" | "POST",
  resource: string,
  body?: unknown,
): Promise<{ status: number; json: unknown }> {
  const headers = { authorization: `Bearer ${token}`, host: "localhost" };
  const call = request({ socketPath, method, path: `/_h3/v1/${resource}`, headers });
  call.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(call, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, json: await json(response) };
}
