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

/**
 * Reads the settings of a site's zone that decide about HTTP/3. Nothing is changed, and a token that may read is enough. The answers are
 * taken to be as Cloudflare documents them. What cannot be read is a row that says so.
 *
 * @param base Where the API is, if not at Cloudflare.
 */
export async function lookAtZone(
  site: URL,
  { token, base = API, files }: { readonly token: string; readonly base?: string; readonly files: readonly string[] },
): Promise<ZoneSeen> {
  // As a setting may end with a slash.
  const root = base.replace(/\/+$/, "");
  const read = async <T>(path: string): Promise<T> => resultOf<T>(root + path, token);
  const row = async <T>(tried: string, asked: Promise<T>, say: (result: T) => Omit<Row, "tried">): Promise<Row> => {
    try {
      return { tried: `zone: ${tried}`, ...say(await asked) };
    } catch (error) {
      return { tried: `zone: ${tried}`, came: (error as Error).message, means: "unknown" };
    }
  };
  let zone: string;
  try {
    zone = await zoneOf(site.hostname, read);
  } catch (error) {
    return { rows: [{ tried: "zone", came: (error as Error).message, means: "unknown" }], routed: undefined };
  }
  let routed: boolean | undefined;
  const rows = await Promise.all([
    row("HTTP/3", read<{ value: string }>(`/zones/${zone}/settings/http3`), ({ value }) => ({
      came: value,
      means: value === "on" ? "browsers can switch; Cloudflare may offer it too" : "no browser can switch",
    })),
    row("Universal SSL", read<{ enabled: boolean }>(`/zones/${zone}/ssl/universal/settings`), ({ enabled }) => ({
      came: enabled ? "on" : "off",
      means: enabled ? "the zone has a certificate" : "HTTP/3 needs another certificate",
    })),
    row("routes", read<readonly Route[]>(`/zones/${zone}/workers/routes`), (routes) => {
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
    row(
      "rules of response headers",
      read<{ rules?: readonly Rule[] }>(`/zones/${zone}/rulesets/phases/${PHASE}/entrypoint`),
      ({ rules = [] }) => {
        const means = {
          marker: "one makes Alt-Svc of the marker, wherever it applies",
          other: "one changes Alt-Svc, and not by the marker",
          none: "none changes Alt-Svc",
        }[altSvcRules(rules)];
        return { came: `${rules.length} rules`, means };
      },
    ),
  ]);
  return { rows, routed };
}

/** The zone of a host: that of the longest suffix that is one. */
async function zoneOf(hostname: string, read: <T>(path: string) => Promise<T>): Promise<string> {
  const labels = hostname.split(".");
  for (let i = 0; i + 2 <= labels.length; i++) {
    const name = encodeURIComponent(labels.slice(i).join("."));
    const [found] = await read<readonly { id: string }[]>(`/zones?name=${name}`);
    if (found !== undefined) return found.id;
  }
  throw new Error(`the token sees no zone of ${hostname}`);
}

/** What a call results in. @throws Error whose message is the end of a row */
async function resultOf<T>(url: string, token: string): Promise<T> {
  const headers = { authorization: `Bearer ${token}` };
  const reply = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((error: unknown) => {
    throw new Error(`the API cannot be asked: ${(error as Error).message}`);
  });
  // A zone without rules of a phase has no ruleset there.
  if (reply.status === 404 && url.includes("/rulesets/")) return {} as T;
  if (reply.status === 401 || reply.status === 403) throw new Error("the token may not read it");
  if (!reply.ok) throw new Error(`the API answers with status ${reply.status}`);
  return ((await reply.json()) as { result: T }).result;
}
