import type { OfferRow } from "../../model/offer-row.ts";
import { gainOf, logMean } from "../senders/places.ts";
import { normalCdf } from "../statistics/normal.ts";
import { mean } from "../statistics/summary.ts";

/** A figure of both clients, the difference of the second from the first, and its 90 % interval. */
export interface Compared {
  readonly browser: number;
  readonly k6: number;
  readonly difference: number;
  readonly low: number;
  readonly high: number;
}

/** One page of one treatment at one place. */
export interface ComparedPage {
  readonly network: string;
  readonly congestion: string;
  readonly treatment: string;
  readonly page: number;
  /** ln(never offered / offered). */
  readonly gain: Compared;
  /** Of its files, the share over HTTP/3. */
  readonly filesH3: Compared;
  /** Whether its gains differ although all pages are looked at (Holm 1979, at 10 %). */
  readonly differs: boolean;
}

/** The bounds: 5 points of a gain and 10 of a share, pooled over all pages. */
export const GAIN_BOUND = 0.05;
export const SHARE_BOUND = 0.1;
/** 90 %, two-sided. */
const Z = 1.645;
const LEVEL = 0.1;

const PAGES_MIN = 3;

/** Compares what an offer changes in a browser with what it changes in k6's client, page by page. Pure. */
export function equivalenceOf(browser: readonly OfferRow[], k6: readonly OfferRow[]) {
  const [ofBrowser, ofK6] = [browser, k6].map((rows) =>
    Map.groupBy(
      rows.filter(({ outcome, loadMs }) => outcome === "ok" && loadMs !== null),
      ({ network, congestion, treatment, page }) => [network, congestion, treatment, page].join("/"),
    ),
  );
  if (ofBrowser === undefined || ofK6 === undefined) throw new Error("there are two clients");
  const compared = [...ofBrowser].flatMap(([key, rows]) => {
    const [first] = rows;
    if (first === undefined || first.treatment.startsWith("never")) return [];
    const { network, congestion, treatment, page } = first;
    const baseKey = [network, congestion, baseOf(treatment), page].join("/");
    const four = [rows, ofBrowser.get(baseKey), ofK6.get(key), ofK6.get(baseKey)];
    const [offered, never, offeredK6, neverK6] = four.map((own = []) => own.map(({ loadMs }) => loadMs ?? Number.NaN));
    if (four.some((own = []) => own.length < PAGES_MIN)) return [];
    const [gain, gainK6] = [
      gainOf(logMean(never ?? []), logMean(offered ?? [])),
      gainOf(logMean(neverK6 ?? []), logMean(offeredK6 ?? [])),
    ];
    const [share, shareK6] = [shareOf(rows), shareOf(ofK6.get(key) ?? [])];
    return [
      {
        network,
        congestion,
        treatment,
        page,
        gain: comparedOf(gain.log, gainK6.log, Math.hypot(gain.se, gainK6.se)),
        filesH3: comparedOf(share.mean, shareK6.mean, Math.hypot(share.se, shareK6.se)),
        se: Math.hypot(gain.se, gainK6.se),
      },
    ];
  });
  const pages = withHolm(compared);
  const pooled = {
    gain: pooledOf(compared.map(({ gain, se }) => ({ ...gain, se }))),
    filesH3: pooledOf(compared.map(({ filesH3 }) => ({ ...filesH3, se: 1 }))),
  };
  return {
    pages,
    pooled,
    isEquivalent:
      within(pooled.gain, GAIN_BOUND) && within(pooled.filesH3, SHARE_BOUND) && pages.every(({ differs }) => !differs),
  };
}

/** What a treatment is compared with: nothing offered, the same pauses. */
function baseOf(treatment: string): string {
  const [, pause] = treatment.split(", ");
  return pause === undefined ? "never" : `never, ${pause}`;
}

function comparedOf(browser: number, k6: number, se: number): Compared {
  const difference = k6 - browser;
  return { browser, k6, difference, low: difference - Z * se, high: difference + Z * se };
}

function shareOf(rows: readonly OfferRow[]): { readonly mean: number; readonly se: number } {
  const shares = rows.map(({ files }) => (files === "" ? 0 : files.replaceAll("2", "").length / files.length));
  const average = mean(shares);
  const variance = shares.reduce((sum, share) => sum + (share - average) ** 2, 0) / Math.max(1, shares.length - 1);
  return { mean: average, se: Math.sqrt(variance / shares.length) };
}

/** The mean difference, weighed by certainty. Its error is that of the differences among each other where that is larger. */
function pooledOf(all: readonly (Compared & { readonly se: number })[]): Compared {
  const weights = all.map(({ se }) => 1 / se ** 2);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const weighed = (of: (one: Compared) => number): number =>
    all.reduce((sum, one, i) => sum + ((weights[i] ?? 0) / total) * of(one), 0);
  const difference = weighed((one) => one.difference);
  const scatter = weighed((one) => (one.difference - difference) ** 2) / Math.max(1, all.length - 1);
  return comparedOf(
    weighed(({ browser }) => browser),
    weighed(({ k6 }) => k6),
    Math.sqrt(Math.max(scatter, all.length < 2 ? 1 / total : 0)),
  );
}

function within({ low, high }: Compared, bound: number): boolean {
  return low > -bound && high < bound;
}

function withHolm(all: readonly (Omit<ComparedPage, "differs"> & { readonly se: number })[]): ComparedPage[] {
  const values = all.map(({ gain, se }) => 2 * (1 - normalCdf(Math.abs(gain.difference) / se)));
  const order = [...values.keys()].sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  const kept = order.findIndex((i, rank) => (values[i] ?? 1) > LEVEL / (order.length - rank));
  const differing = new Set(kept === -1 ? order : order.slice(0, kept));
  return all.map(({ network, congestion, treatment, page, gain, filesH3 }, i) => {
    return { network, congestion, treatment, page, gain, filesH3, differs: differing.has(i) };
  });
}
