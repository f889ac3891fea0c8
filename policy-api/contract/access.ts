/** Where the API is on the site's own host name. */
export const API_PATH = "/_h3/v1";

/** What a token may do. A token that may write may read too. */
export const SCOPES = ["read", "write"] as const;
export type Scope = (typeof SCOPES)[number];

// Spread into a route: the scope that it asks for. The server enforces it; the document says only that a token is needed.
const wants = (scope: Scope) => ({ scope, security: [{ token: [] as string[] }] });
export const reads = wants("read");
export const writes = wants("write");
