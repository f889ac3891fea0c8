import type { Probe } from "../api/contract/deployment.ts";
import type { AssetsHost } from "./doctor/advise.ts";
import { isKeptFrom, requiringCorp } from "../decision/embedding.ts";
import { heard } from "./doctor/heard.ts";
import { filesOf, lookAt, type Looking, type Row, seeFile, type Seen } from "./doctor-look.ts";
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
  const files = [...new Set([...filesOf(html, pageUrl), ...filesOf(html, pageUrl, url)])].filter(isNamed);
  const [records, there] = await Promise.all([askRecords(url, resolver), seeAll(files, { ...endpoint, origin })]);
  const here = await Promise.all(files.map(async (file) => seeFile(looking, file)));
  // What one host lacks is not the same, unless the other one lacks it too.
  const isSame = here.map((own, i) =>
    own?.status === 200 ? there[i]?.status === 200 && there[i].body === own.body : undefined,
  );
  const offers = there.map((seen) => seen && heard(seen.altSvc, Number(url.port) || 443) === "offer");
  const kept = there.map((seen) => isKeptFrom(pageUrl, url, textOf(seen?.headers, "cross-origin-resource-policy")));
  const means = (i: number): string =>
    isSame[i] === undefined
      ? "unknown"
      : [
          isSame[i] ? "the same as here" : "not as it is here",
          ...(offers[i] === true ? ["offers HTTP/3"] : []),
          ...(kept[i] === true ? ["kept from pages here (Cross-Origin-Resource-Policy)"] : []),
        ].join("; ");
  const requiring = requiringCorp((name) => textOf(pageHeaders, name));
  const { offersH3 } = records;
  return {
    rows: [
      ...(requiring === undefined ? [] : [requiring]).map((name) => ({
        tried: `${name} of the page`,
        came: textOf(pageHeaders, name) ?? "",
        means: "it keeps its files",
      })),
      ...(files.length === 0 ? [{ tried: `files at ${url.host}`, came: "none named", means: "unknown" }] : []),
      ...files.map((file, i) => ({
        tried: `${url.host}${file}`,
        came: there[i] === undefined ? "no response" : `status ${there[i].status}`,
        means: means(i),
      })),
      {
        tried: `HTTPS record of ${url.hostname}`,
        came: records.why,
        means: offersH3 === undefined ? "unknown" : offersH3 ? "offers HTTP/3" : "offers nothing",
      },
    ],
    host: {
      origin,
      offers: offersH3 === true || offers.includes(true) ? true : offersH3 === false ? false : undefined,
      isSame: isSame.includes(false) ? false : isSame.length === 0 || isSame.includes(undefined) ? undefined : true,
      isKept: kept.includes(true),
    },
  };
}

/** A header that comes once, or several as one. */
function textOf(headers: Seen["headers"] | undefined, name: string): string | undefined {
  const value = headers?.[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** What comes of files at a host. Undefined: nothing. */
async function seeAll(files: readonly string[], endpoint: Endpoint): Promise<readonly (Seen | undefined)[]> {
  if (files.length === 0) return [];
  try {
    const looking = await lookAt(endpoint);
    try {
      return await Promise.all(files.map(async (file) => seeFile(looking, file)));
    } finally {
      looking.close();
    }
  } catch {
    return files.map(() => undefined);
  }
}
