import { REPORTER_ETAG, REPORTER_SCRIPT } from "./script.ts";

const HEADERS = {
  "content-type": "text/javascript; charset=utf-8",
  // A visit asks for it once. After a day a new version reaches everyone.
  "cache-control": "public, max-age=86400",
  etag: REPORTER_ETAG,
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
};

/** Serves the reporter. Visitors' pages wait for it before their load event, so it looks nothing up. */
export function serveScript({ method, headers }: Request): Response {
  if (method !== "GET" && method !== "HEAD")
    return new Response(null, { status: 405, headers: { allow: "GET, HEAD" } });
  // The tags of If-None-Match are compared weakly (RFC 9110, section 13.1.2).
  const tags = (headers.get("if-none-match") ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  const isHeld = tags.some((tag) => tag === REPORTER_ETAG || tag === "*");
  if (isHeld) return new Response(null, { status: 304, headers: HEADERS });
  return new Response(method === "HEAD" ? null : REPORTER_SCRIPT, { headers: HEADERS });
}
