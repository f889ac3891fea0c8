import { allows, readPolicies } from "../pages/csp.ts";

/** Where pages get the reporter, and where they report. The TLS edge knows both (internal/origin/ownpath.go). */
export const REPORTER_PATH = "/_h3/v1/reporter.js";
export const REPORT_PATH = "/_h3/v1/report";

const HEADERS = ["content-security-policy", "content-security-policy-report-only"] as const;

/** In the place of a page's own site, whichever that is: so a source that names the site's host does not count. */
const SELF = new URL("https://self.invalid");
const LOADS = [
  { kind: "script", url: new URL(REPORTER_PATH, SELF) },
  { kind: "connect", url: new URL(REPORT_PATH, SELF) },
] as const;

/** Whether a page's headers say anything about scripts of its own text. */
export function hasPolicy(headers: Headers): boolean {
  return HEADERS.some((name) => headers.has(name));
}

/**
 * Whether a page's Content-Security-Policy lets it load a script of its own site by a plain tag, and report to its own site. Where it
 * does not, a tag would have no effect but an entry in the site's own reports. So a policy that only reports counts too. When in
 * doubt: no. A policy in the page itself (`<meta>`) is not seen here.
 */
export function allowsReporter(headers: Headers): boolean {
  return HEADERS.flatMap((name) => readPolicies(headers.get(name))).every(
    (policy) => !policy.has("sandbox") && LOADS.every((load) => allows(policy, SELF, load)),
  );
}
