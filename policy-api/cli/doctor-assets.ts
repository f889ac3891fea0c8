import type { Probe } from "../api/contract/deployment.ts";
import type { AssetsHost } from "./doctor/advise.ts";
import { isKeptFrom, requiringCorp } from "../decision/embedding.ts";
import { heard } from "./doctor/heard.ts";
import { filesOf, lookAt, type Looking, type Seen } from "./doctor-look.ts";
import { askRecords } from "./doctor-records.ts";
import type { Row } from "./doctor-zone.ts";
import type { Endpoint } from "./endpoint.ts";

/** What was found at the host at which pages name their files. */
export interface AssetsSeen {
  readonly rows: readonly Row[];
  /** Undefined where no such host is set. */
  readonly host: AssetsHost | undefined;
}

/** Where to look, and what for. */
interface Place {
  readonly assets: NonNullable<Probe["assets"]>;
  /** The site itself. */
  readonly endpoint: Endpoint;
  readonly looking: Looking;
  /** The page, as it came, and its address. */
  readonly html: string;
  readonly page: URL;
  readonly pageHeaders: Seen["headers"];
  /** A server of DNS over HTTPS, if one was given. */
  readonly resolver: string | undefined;
}

/** Looks at the host that ASSETS names: whether it has the page's files, and whether anything there offers HTTP/3. Never throws. */
export async function lookAtAssets({
  assets,
  endpoint,
  looking,
  html,
  page,
  pageHeaders,
  resolver,
}: Place): Promise<AssetsSeen> {
  const { origin, paths } = assets;
  const url = new URL(origin);
  const isNamed = (path: string): boolean => paths.some((beginning) => path.startsWith(beginning));
  // The page may have been changed already, or not.
  const files = [...new Set([...filesOf(html, page), ...filesOf(html, page, url)])].filter(isNamed);
  const [records, there] = await Promise.all([askRecords(url, resolver), seeAll(files, { ...endpoint, origin })]);
  const here = await Promise.all(files.map(async (file) => seeOne(looking, file)));
  const isSame = files.map((_, i) => same(here[i], there[i]));
  const offers = there.map((seen) => seen && heard(seen.altSvc, Number(url.port) || 443) === "offer");
  const kept = there.map((seen) => isKeptFrom(page, url, textOf(seen?.headers, "cross-origin-resource-policy")));
  const means = (i: number): string =>
    isSame[i] === undefined
      ? "unknown"
      : [
          isSame[i] ? "the same as here" : "not as it is here",
          ...(offers[i] === true ? ["offers HTTP/3"] : []),
          ...(kept[i] === true ? ["kept from pages here (Cross-Origin-Resource-Policy)"] : []),
        ].join("; ");
  const requiring = requiringCorp((name) => textOf(pageHeaders, name));
  const unknown: Row = { tried: `files at ${url.host}`, came: "none named", means: "unknown" };
  const { offersH3 } = records;
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
      ...(files.length === 0 ? [unknown] : []),
      ...files.map((file, i) => ({ tried: `${url.host}${file}`, came: cameOf(there[i]), means: means(i) })),
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

function cameOf(seen: Seen | undefined): string {
  return seen === undefined ? "no response" : `status ${seen.status}`;
}

/** Undefined where nothing can be compared. What one host lacks is not the same, unless the other one lacks it too. */
function same(here: Seen | undefined, there: Seen | undefined): boolean | undefined {
  if (here === undefined || here.status !== 200) return undefined;
  return there !== undefined && there.status === 200 && there.body === here.body;
}

/** What comes of files at a host. Undefined: nothing. */
async function seeAll(files: readonly string[], endpoint: Endpoint): Promise<readonly (Seen | undefined)[]> {
  if (files.length === 0) return [];
  try {
    const looking = await lookAt(endpoint);
    try {
      return await Promise.all(files.map(async (file) => seeOne(looking, file)));
    } finally {
      looking.close();
    }
  } catch {
    return files.map(() => undefined);
  }
}

async function seeOne(looking: Looking, file: string): Promise<Seen | undefined> {
  try {
    return await looking.see(file, { "sec-fetch-dest": "image" });
  } catch {
    return undefined;
  }
}
