/**
 * Whether a request is a GET for a page by a person: what begins a session. Everything else passes untouched.
 *
 * Browsers say so in Sec-Fetch-Dest (Fetch Metadata Request Headers, section 2.1); older ones, and clients that are no
 * browsers, are taken by whether they ask for HTML.
 */
export function isNavigation(request: Request): boolean {
  if (request.method !== "GET") return false;
  const { headers } = request;
  if (headers.has("upgrade")) return false;
  const destination = headers.get("sec-fetch-dest");
  if (destination !== null) return destination === "document";
  return headers.get("accept")?.includes("text/html") ?? false;
}
