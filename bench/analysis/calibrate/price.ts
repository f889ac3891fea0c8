import { gainOf, logMean, type LogTime } from "../senders/places.ts";
import { rowsIn } from "../../model/recorded-run.ts";
import { float, optionalFloat, string } from "../../model/row-schema.ts";

/** What the page at hand loses to an offer at an RTT: ln(its time with it / without). */
export type PriceAt = (rttMs: number) => LogTime;

/** A first page in a browser: of a visit that was offered HTTP/3 with it, or never. */
export interface FirstPage {
  readonly rttMs: number;
  readonly isOffered: boolean;
  readonly loadMs: number;
}

/** The price at each RTT that was measured, linear between them in the logarithm; outside the nearest one's. Pure. */
export function priceFrom(pages: readonly FirstPage[]): PriceAt {
  const prices = [...Map.groupBy(pages, ({ rttMs }) => rttMs)]
    .flatMap(([rttMs, own]) => {
      const [offered, never] = [true, false].map((isOffered) =>
        own.filter((page) => page.isOffered === isOffered).map(({ loadMs }) => loadMs),
      );
      if (offered === undefined || never === undefined || Math.min(offered.length, never.length) < 2) return [];
      return [{ rttMs, price: gainOf(logMean(offered), logMean(never)) }];
    })
    .sort((a, b) => a.rttMs - b.rttMs);
  return (rttMs) => {
    const above = prices.findIndex((one) => one.rttMs >= rttMs);
    const to = prices[above === -1 ? prices.length - 1 : above];
    const from = prices[above - 1] ?? to;
    if (from === undefined || to === undefined) return { log: 0, se: 1 };
    const share = from === to ? 0 : Math.log(rttMs / from.rttMs) / Math.log(to.rttMs / from.rttMs);
    return {
      log: from.price.log * (1 - share) + to.price.log * share,
      se: Math.hypot(from.price.se * (1 - share), to.price.se * share),
    };
  };
}

/** What is read of the rows of `offers`. */
export const OFFERED_PAGE = { network: string(), treatment: string(), page: float, loadMs: optionalFloat } as const;

/** What an offer costs the page that brings it, by the recorded visits of a run of `offers`. @throws UserError without one */
export function priceIn(folder: string): PriceAt {
  return priceFrom(firstPagesIn(folder));
}

/** The first pages of Chromium's visits without loss: what an offer costs the page that brings it. */
function firstPagesIn(folder: string): FirstPage[] {
  return rowsIn(folder, OFFERED_PAGE).flatMap(({ network, treatment, page, loadMs }) => {
    const [, rttMs] = /^([\d.]+) ms$/.exec(network) ?? [];
    if (page !== 1 || rttMs === undefined || loadMs === null) return [];
    return treatment === "first" || treatment === "never"
      ? [{ rttMs: Number(rttMs), isOffered: treatment === "first", loadMs }]
      : [];
  });
}
