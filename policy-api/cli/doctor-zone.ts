import { altSvcRules, passesWorker, type Route, type Rule } from "./doctor/zone-rules.ts";
import type { Row } from "./doctor-look.ts";

/** What Cloudflare's API says of a zone. */
export interface ZoneSeen {
  /** For a person. */
  readonly rows: readonly Row[];
  /** Whether a route leads the page to a worker. Undefined: not known. */
  readonly routed: boolean | undefined;
}

const API = "https://api.cloudflare.com/client/v4";
const TIMEOUT_MS = 10_000;
const PHASE = "http_response_headers_transform";

/** What a token of the API may not read, or what has another shape than is known here. */
class Unread extends Error {}

/**
 * Reads the settings of a site's zone that decide about HTTP/3. Nothing is changed, and a token that may read is enough. What
 * cannot be read is a row that says so.
 *
 * @param base Where the API is, if not at Cloudflare.
 */
export async function lookAtZone(
  site: URL,
  { token, base = API, files }: { readonly token: string; readonly base?: string; readonly files: readonly string[] },
): Promise<ZoneSeen> {
  // As a setting may end with a slash.
  const root = base.replace(/\/+$/, "");
  const read = async (path: string): Promise<unknown> => resultOf(await ask(root + path, token), path);
  let zone: string;
  try {
    zone = await zoneOf(site.hostname, read);
  } catch (error) {
    return { rows: [{ tried: "zone", came: unread(error), means: "unknown" }], routed: undefined };
  }
  let routed: boolean | undefined;
  const row = async (tried: string, path: string, say: (result: unknown) => Omit<Row, "tried">): Promise<Row> => {
    try {
      return { tried: `zone: ${tried}`, ...say(await read(`/zones/${zone}${path}`)) };
    } catch (error) {
      return { tried: `zone: ${tried}`, came: unread(error), means: "unknown" };
    }
  };
  const rows = await Promise.all([
    row("HTTP/3", "/settings/http3", (result) => {
      const value = textIn(result, "value");
      const means = value === "on" ? "browsers can switch; Cloudflare may offer it too" : "no browser can switch";
      return { came: value, means };
    }),
    row("Universal SSL", "/ssl/universal/settings", (result) => {
      const isOn = fieldIn(result, "enabled");
      if (typeof isOn !== "boolean") throw new Unread("the API's answer has no enabled");
      return {
        came: isOn ? "on" : "off",
        means: isOn ? "the zone has a certificate" : "HTTP/3 needs another certificate",
      };
    }),
    row("routes", "/workers/routes", (result) => {
      const routes = listOf(result).map(routeOf);
      const passing = files.filter((file) => passesWorker(new URL(file, site), routes)).length;
      // A worker may also have a host of its own (a Custom Domain), of which this list says nothing.
      const isRouted = passesWorker(site, routes);
      if (isRouted || routes.length > 0) routed = isRouted;
      const page = isRouted ? "the page goes to a worker" : "none leads the page to a worker";
      return {
        came: routes.map(({ pattern }) => pattern).join(", ") || "none",
        means: files.length === 0 ? page : `${page}, and ${passing} of ${files.length} files`,
      };
    }),
    row("rules of response headers", `/rulesets/phases/${PHASE}/entrypoint`, (result) => {
      const rules = listOf(fieldIn(result, "rules") ?? []).map(ruleOf);
      const means = {
        marker: "one makes Alt-Svc of the marker, wherever it applies",
        other: "one changes Alt-Svc, and not by the marker",
        none: "none changes Alt-Svc",
      }[altSvcRules(rules)];
      return { came: `${rules.length} rules`, means };
    }),
  ]);
  return { rows, routed };
}

/** The zone of a host: that of the longest suffix that is one. */
async function zoneOf(hostname: string, read: (path: string) => Promise<unknown>): Promise<string> {
  const labels = hostname.split(".");
  for (let i = 0; i + 2 <= labels.length; i++) {
    const [found] = listOf(await read(`/zones?name=${encodeURIComponent(labels.slice(i).join("."))}`));
    if (found !== undefined) return textIn(found, "id");
  }
  throw new Unread(`the token sees no zone of ${hostname}`);
}

async function ask(url: string, token: string): Promise<{ status: number; body: unknown }> {
  const reply = await fetch(url, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return { status: reply.status, body: await reply.json().catch(() => undefined) };
}

/** A zone without rules of a phase has no ruleset there: the API says 404. */
function resultOf({ status, body }: { status: number; body: unknown }, path: string): unknown {
  if (status === 404 && path.includes("/rulesets/")) return {};
  if (status === 401 || status === 403) throw new Unread("the token may not read it");
  if (status !== 200 || fieldIn(body, "success") !== true) throw new Unread(`the API answers with status ${status}`);
  return fieldIn(body, "result");
}

function unread(error: unknown): string {
  return error instanceof Unread ? error.message : `the API cannot be asked: ${(error as Error).message}`;
}

function fieldIn(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function textIn(value: unknown, name: string): string {
  const text = fieldIn(value, name);
  if (typeof text !== "string") throw new Unread(`the API's answer has no ${name}`);
  return text;
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Unread("the API's answer is no list");
  return value;
}

function routeOf(value: unknown): Route {
  const script = fieldIn(value, "script");
  return { pattern: textIn(value, "pattern"), ...(typeof script === "string" && { script }) };
}

function ruleOf(value: unknown): Rule {
  const headers = fieldIn(fieldIn(value, "action_parameters"), "headers") ?? {};
  return { enabled: fieldIn(value, "enabled") !== false, headers: headers as Rule["headers"] };
}
