/** A Content-Security-Policy: its directives' values, as they stand there, by the directives' names. */
export type Policy = ReadonlyMap<string, readonly string[]>;

/** What a page would load. */
export interface Load {
  readonly kind: keyof typeof DIRECTIVES;
  readonly url: URL;
  /** The element's. */
  readonly nonce?: string | undefined;
}

/** Of which the first one that a policy has counts (CSP Level 3, section 6.8.3). */
const DIRECTIVES = {
  script: ["script-src-elem", "script-src", "default-src"],
  style: ["style-src-elem", "style-src", "default-src"],
  image: ["img-src", "default-src"],
  connect: ["connect-src", "default-src"],
} as const;

/** Reads a header's policies, or a `meta` element's. Several headers come as one, with commas between them, and all of them count. */
export function readPolicies(text: string | null): readonly Policy[] {
  return (text ?? "").split(",").map(readPolicy);
}

function readPolicy(text: string): Policy {
  const directives = new Map<string, readonly string[]>();
  for (const directive of text.split(";")) {
    const [name = "", ...values] = directive.trim().split(/[\t\n\f\r ]+/);
    // Of a directive that stands there twice, the first one counts.
    if (name !== "" && !directives.has(name.toLowerCase())) directives.set(name.toLowerCase(), values);
  }
  return directives;
}

/**
 * Whether a policy lets a page of the site `self` load something (CSP Level 3, sections 6.7.1 and 6.7.2). Hashes are not looked at: they
 * allow what has an `integrity`.
 */
export function allows(policy: Policy, self: URL, { kind, url, nonce }: Load): boolean {
  const sources = sourcesOf(policy, kind);
  if (sources === undefined) return true;
  if (kind !== "image" && nonce !== undefined && nonce !== "" && sources.some((source) => isNonce(source, nonce)))
    return true;
  // With it, only scripts with a nonce, and those that they load.
  if (kind === "script" && sources.some((source) => source.toLowerCase() === "'strict-dynamic'")) return false;
  return sources.some((source) => matches(source, self, url));
}

/** Whether a policy could let a page load anything of this kind from `there`: some path, or for some nonce. */
export function couldAllow(policy: Policy, self: URL, kind: Load["kind"], there: URL): boolean {
  const sources = sourcesOf(policy, kind) ?? ["*"];
  return sources.some(
    (source) => /^'nonce-/i.test(source) || matches(source.replace(/([^:/])\/.*$/, "$1"), self, there),
  );
}

function sourcesOf(policy: Policy, kind: Load["kind"]): readonly string[] | undefined {
  const name = DIRECTIVES[kind].find((each) => policy.has(each));
  return name === undefined ? undefined : policy.get(name);
}

function isNonce(source: string, nonce: string): boolean {
  return /^'nonce-(.+)'$/i.exec(source)?.[1] === nonce;
}

/** A source with a host: its scheme, host, port and path. */
const HOST_SOURCE = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\*|(?:\*\.)?[^/:*'\s]+)(?::(\d+|\*))?(\/.*)?$/i;

function matches(source: string, self: URL, url: URL): boolean {
  if (source === "*") return hasScheme("http:", url) || url.protocol === self.protocol;
  if (source.toLowerCase() === "'self'") return url.origin === self.origin;
  if (/^[a-z][a-z0-9+.-]*:$/i.test(source)) return hasScheme(source.toLowerCase(), url);
  const [whole, scheme, host = "", port, path] = HOST_SOURCE.exec(source) ?? [];
  return (
    whole !== undefined &&
    hasScheme(scheme === undefined ? self.protocol : `${scheme.toLowerCase()}:`, url) &&
    hasHost(host.toLowerCase(), url) &&
    hasPort(port, url) &&
    (path === undefined || hasPath(path, url))
  );
}

function hasScheme(scheme: string, { protocol }: URL): boolean {
  return protocol === scheme || (scheme === "http:" && protocol === "https:");
}

function hasHost(host: string, { hostname }: URL): boolean {
  if (host === "*") return true;
  return host.startsWith("*.") ? hostname.endsWith(host.slice(1)) : hostname === host;
}

/** A URL has no port where it is its scheme's. */
function hasPort(port: string | undefined, { protocol, port: own }: URL): boolean {
  if (port === "*") return true;
  const usual = protocol === "https:" ? "443" : "80";
  return (own || usual) === (port ?? usual);
}

/** One that ends with a slash is a folder. */
function hasPath(path: string, { pathname }: URL): boolean {
  const [wanted, given] = [decoded(path), decoded(pathname)];
  return wanted.endsWith("/") ? given.startsWith(wanted) : given === wanted;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
