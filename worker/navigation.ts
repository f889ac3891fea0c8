/** Whether an answer sends the browser on: the page that it asks for next is the one that the person asked for. */
export function leadsOn(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

/**
 * Whether a person asks for a page with this request. That begins a session; everything else passes untouched.
 *
 * Browsers say it in Sec-Fetch-Dest (Fetch Metadata Request Headers, section 2.1). For older browsers and other clients
 * it counts whether they ask for HTML.
 */
export function isNavigation(request: Request): boolean {
  if (request.method !== "GET") return false;
  const { headers } = request;
  if (headers.has("upgrade")) return false;
  const destination = headers.get("sec-fetch-dest");
  if (destination !== null) return destination === "document";
  return headers.get("accept")?.includes("text/html") ?? false;
}
