// An edge function of any CDN whose functions take a Request and give a Response.
import { decisions, rttMsOf } from "./decisions.js";

/**
 * @param origin Where pages come from, such as https://origin.example.com.
 * @param api, token See decisions.js.
 * @returns the handler: `export default { fetch: createHandler({ ... }) }`, or
 *   `addEventListener("fetch", (event) => event.respondWith(handle(event.request)))`.
 */
export function createHandler({ origin, api, token }) {
  // Made once: where a platform begins each request anew (Fastly Compute), what was answered has to be kept in its cache.
  const altSvcFor = decisions({ api, token });
  return async (request) => {
    const { pathname, search } = new URL(request.url);
    const isPage = request.headers.get("sec-fetch-dest") === "document";
    // Side by side: what asking costs is hidden behind the origin's own time.
    const [response, altSvc] = await Promise.all([
      fetch(new Request(origin + pathname + search, request), { redirect: "manual" }),
      isPage ? altSvcFor(rttMsOf(request.headers.get("x-client-rtt-us"))) : undefined,
    ]);
    const headers = new Headers(response.headers);
    // What the origin advertises are its own ports, behind this one.
    headers.delete("alt-svc");
    if (altSvc !== undefined) headers.set("alt-svc", altSvc);
    return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
  };
}
