import { rowsIn } from "../../model/recorded-run.ts";
import { float, optionalFloat, string } from "../../model/row-schema.ts";
import { type FirstPage, type PriceAt, priceFrom } from "./price.ts";

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
