/** A route as wrangler.toml has it: a pattern, or a table with one. */
export type Route = string | { readonly pattern: string; readonly custom_domain?: boolean };

/** A route's pattern in its parts. */
export interface Pattern {
  readonly text: string;
  readonly host: string;
  /** With its slash, and perhaps with a star at its end. Empty for a custom domain, which has all paths. */
  readonly path: string;
}

/** What the API and pages' reports are under. */
export const OWN_PATH = "/_h3/";

export function patternOf(route: Route): Pattern {
  const text = typeof route === "string" ? route : route.pattern;
  const isDomain = typeof route !== "string" && route.custom_domain === true;
  const bare = text.replace(/^https?:\/\//, "");
  const slash = bare.indexOf("/");
  const host = slash < 0 ? bare : bare.slice(0, slash);
  return { text, host, path: isDomain ? "" : slash < 0 ? "/" : bare.slice(slash) };
}

/** Whether all paths of the host come to the worker, images and files with them. */
export function takesAll({ path }: Pattern): boolean {
  return path === "" || path === "/*";
}

/** Whether a path comes to the worker by this route. */
export function takes({ path }: Pattern, wanted: string): boolean {
  if (path === "") return true;
  return path.endsWith("*") ? wanted.startsWith(path.slice(0, -1)) : wanted === path;
}

/** Hosts, without those that a star stands for. */
export function hostsOf(patterns: readonly Pattern[]): string[] {
  return [...new Set(patterns.map(({ host }) => host))];
}
