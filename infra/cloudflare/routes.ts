/** A route as wrangler.toml has it: a pattern, or a table with one. */
export type Route = string | { readonly pattern: string; readonly custom_domain?: boolean };

/** A route's pattern in its parts. */
export interface Pattern {
  readonly text: string;
  /** `http`, `https`, or nothing for both. */
  readonly scheme: string;
  /** In small letters. It may begin with a star. */
  readonly host: string;
  /** With its slash, and perhaps with a star at its end. */
  readonly path: string;
  /** The worker is the host's origin: it has all paths, and nothing stands behind it. */
  readonly isDomain: boolean;
}

/** What the API and pages' reports are under. */
export const OWN_PATH = "/_h3/";

export function patternOf(route: Route): Pattern {
  const text = typeof route === "string" ? route : route.pattern;
  const isDomain = typeof route !== "string" && route.custom_domain === true;
  const [, scheme = "", bare = text] = /^(https?):\/\/(.*)$/.exec(text) ?? [];
  const slash = bare.indexOf("/");
  const host = (slash < 0 ? bare : bare.slice(0, slash)).toLowerCase();
  return { text, scheme, host, path: isDomain ? "/*" : slash < 0 ? "/" : bare.slice(slash), isDomain };
}

/** Whether Cloudflare takes such a pattern: stars at the host's beginning and the path's end alone, no query, no port. */
export function isPattern({ host, path }: Pattern): boolean {
  return /^(?:\*\.?)?[^*:]+$/.test(host) && /^\/[^*?]*\*?$/.test(path);
}

/** Whether all paths of the host come to the worker, images and files with them. */
export function takesAll({ path }: Pattern): boolean {
  return path === "/*";
}

/** Folders that hold files and no pages, by the names that most sites give them. */
const FILE_FOLDERS = /^\/(?:assets?|css|fonts?|images?|img|js|media|static)\//i;

/** The folder of files that a pattern leads to the worker. Undefined: it leads to pages, as far as its name tells. */
export function filesOf({ path }: Pattern): string | undefined {
  return FILE_FOLDERS.exec(path)?.[0];
}

/** Whether all that is under OWN_PATH of another pattern's host comes to the worker by this one, over https at least. */
export function takesOwnPath({ scheme, host, path }: Pattern, of: string): boolean {
  const isHost = host.startsWith("*") ? of.endsWith(host.slice(1)) : host === of;
  return scheme !== "http" && isHost && path.endsWith("*") && OWN_PATH.startsWith(path.slice(0, -1));
}

/** Each host once. */
export function hostsOf(patterns: readonly Pattern[]): string[] {
  return [...new Set(patterns.map(({ host }) => host))];
}
