/** Headers by which a page may take files of other hosts only where those allow it. */
const EMBEDDER_POLICIES = ["cross-origin-embedder-policy", "document-isolation-policy"] as const;
/** As a structured field: a token, perhaps with parameters. Anything else counts as if there were none. */
const REQUIRES_CORP = /^\s*(?:require-corp|isolate-and-require-corp)\s*(?:;|$)/;

/** Which of a page's headers lets browsers block files of other hosts that do not allow it. Undefined: none. */
export function requiringCorp(get: (name: string) => string | null | undefined): string | undefined {
  return EMBEDDER_POLICIES.find((name) => REQUIRES_CORP.test(get(name) ?? ""));
}

/** Of a URL. */
interface UrlSite {
  readonly origin: string;
  readonly hostname: string;
}

/**
 * Whether browsers keep a file from a page because of its Cross-Origin-Resource-Policy (Fetch, section 3.7). Two hosts count as one site
 * here if the last two of their labels are the same: which suffixes are public, such as co.uk, is not known.
 */
export function isKeptFrom(page: UrlSite, file: UrlSite, policy: string | undefined): boolean {
  if (policy === "same-origin") return page.origin !== file.origin;
  return policy === "same-site" && siteOf(page) !== siteOf(file);
}

function siteOf({ hostname }: UrlSite): string {
  return /^[\d.]+$|:/.test(hostname) ? hostname : hostname.split(".").slice(-2).join(".");
}
