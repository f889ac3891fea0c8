import type { Probe } from "../api/contract/deployment.ts";
import type { AssetsHost } from "./doctor/advise.ts";
import { isKeptFrom, requiringCorp } from "../decision/embedding.ts";
import { heard } from "./doctor/heard.ts";
import { filesOf, lookAt, type Looking, type Row, meaning, seeFile, type Seen } from "./doctor-look.ts";
import { askRecords } from "./doctor-records.ts";
import type { Endpoint } from "./endpoint.ts";

/** What was found at the host at which pages name their files. */
export interface AssetsSeen {
  readonly rows: readonly Row[];
  /** Undefined where no such host is set. */
  readonly host: AssetsHost | undefined;
}

/**
 * Looks at the host that ASSETS names: whether it has the page's files, and whether anything there offers HTTP/3. Never throws.
 *
 * @param endpoint The site's own.
 * @param page As it came; undefined where none did
 */
export async function lookAtAssets(
  { origin, paths }: NonNullable<Probe["assets"]>,
  looking: Looking,
  endpoint: Endpoint,
  page: Seen | undefined,
  resolver: string | undefined,
): Promise<AssetsSeen> {
  const pageUrl = new URL(page?.path ?? "/", endpoint.origin);
  const { body: html = "", headers: pageHeaders = {} } = page ?? {};
  const url = new URL(origin);
  const isNamed = (path: string): boolean => paths.some((beginning) => path.startsWith(beginning));
  // The page may have been changed already, or not.
  const elsewhere = filesOf(html, pageUrl, url);
  const files = [...new Set([...filesOf(html, pageUrl), ...elsewhere])].filter(isNamed);
  const requiring = requiringCorp((name) => textOf(pageHeaders, name));
  const [{ offersH3, why }, hosting] = await Promise.all([
    askRecords(url, resolver),
    files.length === 0 ? undefined : lookAt({ ...endpoint, origin }).catch(() => undefined),
  ]);
  const seen = await Promise.all(
    files.map(async (file) => {
      const [here, there] = await Promise.all([seeFile(looking, file), hosting && seeFile(hosting, file)]);
      // What one host lacks is not the same, unless the other one lacks it too.
      const isSame = here?.status === 200 ? there?.status === 200 && there.body === here.body : undefined;
      const offers = there !== undefined && heard(there.altSvc, Number(url.port) || 443) === "offer";
      // Where a page requires files to allow it, the worker moves none. Those that it names there itself have to say so (Fetch, section 3.7).
      const silent = requiring !== undefined && elsewhere.includes(file) ? "same-origin" : undefined;
      const isKept =
        there !== undefined &&
        isKeptFrom(pageUrl, url, textOf(there.headers, "cross-origin-resource-policy") ?? silent);
      const means = [
        isSame === true ? "the same as here" : "not as it is here",
        ...(offers ? ["offers HTTP/3"] : []),
        ...(isKept ? ["kept from pages here (Cross-Origin-Resource-Policy)"] : []),
      ];
      const row: Row = {
        tried: `${url.host}${file}`,
        came: there === undefined ? "no response" : `status ${there.status}`,
        means: isSame === undefined ? "unknown" : means.join("; "),
      };
      return { isSame, offers, isKept, row };
    }),
  );
  hosting?.close();
  return {
    rows: [
      ...(requiring === undefined
        ? []
        : [
            {
              tried: `${requiring} of the page`,
              came: textOf(pageHeaders, requiring) ?? "",
              means: "it keeps its files",
            },
          ]),
      ...(files.length === 0 ? [{ tried: `files at ${url.host}`, came: "none named", means: "unknown" }] : []),
      ...seen.map(({ row }) => row),
      {
        tried: `HTTPS record of ${url.hostname}`,
        came: why,
        means: meaning(offersH3, "offers HTTP/3", "offers nothing"),
      },
    ],
    host: {
      origin,
      offers: seen.some(({ offers }) => offers) || offersH3,
      isSame: seen.some(({ isSame }) => isSame === false)
        ? false
        : (seen.length > 0 && seen.every(({ isSame }) => isSame)) || undefined,
      isKept: seen.some(({ isKept }) => isKept),
    },
  };
}

/** A header that comes once, or several as one. */
function textOf(headers: Seen["headers"] | undefined, name: string): string | undefined {
  const value = headers?.[name];
  return Array.isArray(value) ? value.join(", ") : value;
}
