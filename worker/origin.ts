import type { Settings } from "./settings.ts";

/**
 * Fetches what the visitor asked for: through the route that the worker stands on, or from ORIGIN.
 *
 * Redirects are the visitor's to follow. An origin that cannot be reached is a 502, as from any proxy; a stream that
 * breaks later breaks for the visitor too.
 *
 * @param visited The request's URL, read once.
 */
export async function fetchOrigin(
  request: Request,
  visited: URL,
  settings: Pick<Settings, "origin">,
): Promise<Response> {
  if (settings.origin === undefined) return fetch(request);
  const url = new URL(visited);
  const headers = new Headers(request.headers);
  headers.set("x-forwarded-host", request.headers.get("host") ?? url.host);
  headers.set("x-forwarded-proto", visited.protocol.slice(0, -1));
  url.protocol = settings.origin.protocol;
  url.host = settings.origin.host;
  // A URL keeps its port when another host without one is set.
  url.port = settings.origin.port;
  try {
    return await fetch(new Request(url, request), { headers, redirect: "manual" });
  } catch {
    return new Response("Bad gateway: the origin does not answer.\n", {
      status: 502,
      headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
    });
  }
}
