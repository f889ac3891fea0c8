import type { Settings } from "./settings.ts";

/**
 * Fetches what the visitor asked for: through the route that the worker stands on, or from ORIGIN.
 *
 * Redirects are the visitor's to follow. An origin that cannot be reached is a 502, as from any proxy, and is asked once
 * only (so no passThroughOnException: it would send a POST again, without its body). A stream that breaks later breaks for
 * the visitor too.
 *
 * @param visited The request's URL, read once.
 */
export async function fetchOrigin(
  request: Request,
  visited: URL,
  settings: Pick<Settings, "origin">,
): Promise<Response> {
  try {
    return settings.origin === undefined
      ? await fetch(request)
      : withoutOriginsOffer(await fetchFrom(settings.origin, request, visited));
  } catch {
    return new Response("Bad gateway: the origin does not answer.\n", {
      status: 502,
      headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
    });
  }
}

function fetchFrom(origin: URL, request: Request, visited: URL): Promise<Response> {
  const url = new URL(visited);
  const headers = new Headers(request.headers);
  headers.set("x-forwarded-host", request.headers.get("host") ?? url.host);
  headers.set("x-forwarded-proto", visited.protocol.slice(0, -1));
  url.protocol = origin.protocol;
  url.host = origin.host;
  // A URL keeps its port when another host without one is set.
  url.port = origin.port;
  return fetch(new Request(url, request), { headers, redirect: "manual" });
}

/** An origin's own Alt-Svc speaks of its own ports, and would outlive what is decided here; Cloudflare removes it too. */
function withoutOriginsOffer(response: Response): Response {
  if (!response.headers.has("alt-svc")) return response;
  const own = new Response(response.body, response);
  own.headers.delete("alt-svc");
  return own;
}
