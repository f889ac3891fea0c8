/** Where the API is on the site's own host name. */
export const API_PATH = "/_h3/v1";

/** What a token may do, the least first. `autopilot` may write, and say that the autopilot did. */
export const SCOPES = ["read", "write", "autopilot"] as const;
export type Scope = (typeof SCOPES)[number];
