import { LimitedLog } from "./limited-log.ts";
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
  settings: Pick<Settings, "origin" | "edge">,
): Promise<Response> {
  const { origin, edge } = settings;
  try {
    if (origin !== undefined) return withoutOriginsOffer(await fetchFrom(origin, request, visited, edge));
    // Elsewhere there is no route, and the visitor's Host header would choose what is fetched.
    if (edge !== "cloudflare") throw new Error("ORIGIN is not set");
    return await fetch(request);
  } catch (error) {
    errorLog.write(error);
    return new Response("Bad gateway: the origin does not answer.\n", {
      status: 502,
      headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
    });
  }
}

const errorLog = new LimitedLog("The origin does not answer");

function fetchFrom(origin: URL, request: Request, visited: URL, edge: Settings["edge"]): Promise<Response> {
  const asked = new Request(origin.origin + visited.pathname + visited.search, request);
  // The origin sees its own name as Host. Our edge has said already which one the visitor used.
  if (edge !== "adaptive-h3") asked.headers.set("x-forwarded-host", visited.host);
  return fetch(asked, { redirect: "manual" });
}

/** An origin's own Alt-Svc speaks of its own ports, and would outlive what is decided here; Cloudflare removes it too. */
function withoutOriginsOffer(response: Response): Response {
  if (!response.headers.has("alt-svc")) return response;
  const own = new Response(response.body, response);
  own.headers.delete("alt-svc");
  return own;
}
