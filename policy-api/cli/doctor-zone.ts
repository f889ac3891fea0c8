import { PHASE } from "../decision/compiled/cloudflare.ts";
import { altSvcRules, passesWorker, type Route, type Rule } from "./doctor/zone-rules.ts";
import { cloudflareApi, zoneOf } from "./cloudflare-api.ts";
import type { Row } from "./doctor-look.ts";

/** What Cloudflare's API says of a zone. */
export interface ZoneSeen {
  /** For a person. */
  readonly rows: readonly Row[];
  /** Whether a route leads the page to a worker. Undefined: not known. */
  readonly routed: boolean | undefined;
}

/**
 * Reads the settings of a site's zone that decide about HTTP/3. Nothing is changed, and a token that may read is enough. The answers are
 * taken to be as Cloudflare documents them. What cannot be read is a row that says so.
 *
 * @param base Where the API is, if not at Cloudflare.
 */
export async function lookAtZone(
  site: URL,
  { token, base, files }: { readonly token: string; readonly base?: string; readonly files: readonly string[] },
): Promise<ZoneSeen> {
  const read = cloudflareApi(token, base);
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
