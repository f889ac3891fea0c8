/** Where the API is on the site's own host name. */
export const API_PATH = "/_h3/v1";

/** What a token may do. A token that may write may read too. */
export const SCOPES = ["read", "write"] as const;
export type Scope = (typeof SCOPES)[number];
