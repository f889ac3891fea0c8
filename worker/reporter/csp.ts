const HEADERS = ["content-security-policy", "content-security-policy-report-only"] as const;

/** Whether a page's headers say anything about scripts of its own text. */
export function hasPolicy(headers: Headers): boolean {
  return HEADERS.some((name) => headers.has(name));
}

type Directives = ReadonlyMap<string, readonly string[]>;

/**
 * Whether a page's Content-Security-Policy lets it load a script of its own site by a plain tag, and report to its own site
 * (CSP Level 3, sections 6.1 and 6.7). Where it does not, a tag would have no effect but an entry in the site's own reports.
 * So a policy that only reports counts too. When in doubt: no. A policy in the page itself (`<meta>`) is not seen here.
 */
export function allowsReporter(headers: Headers): boolean {
  const given = HEADERS.map((name) => headers.get(name));
  // Several headers come as one, with commas between them. All of the policies must allow it.
  const policies = given.flatMap((value) => (value === null ? [] : value.split(",")));
  return policies.every((policy) => {
    const directives = read(policy);
    const script = first(directives, "script-src-elem", "script-src", "default-src");
    const connect = first(directives, "connect-src", "default-src");
    return (
      !directives.has("sandbox") &&
      (script === undefined || (names(script) && !script.includes("'strict-dynamic'"))) &&
      (connect === undefined || names(connect))
    );
  });
}

function read(policy: string): Directives {
  const directives = new Map<string, readonly string[]>();
  for (const directive of policy.split(";")) {
    const [name = "", ...values] = directive.trim().toLowerCase().split(/\s+/);
    // Of a directive that stands there twice, the first one counts.
    if (name !== "" && !directives.has(name)) directives.set(name, values);
  }
  return directives;
}

function first(directives: Directives, ...wanted: readonly string[]): readonly string[] | undefined {
  return wanted.map((name) => directives.get(name)).find((values) => values !== undefined);
}

/** Whether a list of sources has the page's own site. */
function names(sources: readonly string[]): boolean {
  return sources.some((source) => source === "'self'" || source === "*" || source === "https:");
}
