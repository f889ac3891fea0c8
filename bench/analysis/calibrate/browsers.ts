import { resolve } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { browserBytes, PAGE_TIMEOUT_MS } from "../../model/browser-pages.ts";
import { type BrowserClient, CALIBRATING_DRAWS, pageOf, readBrowserClients } from "../../model/clients.ts";
import { rowsIn } from "../../model/recorded-run.ts";
import { float, optionalFloat, type RowOf, string } from "../../model/row-schema.ts";
import { fitOf, type Kind, type PageGain, type PageGains, type Place } from "./lean.ts";

/** What is read of the rows of `browser-clients`. */
export const BROWSER_PAGE = {
  client: string(),
  arm: string(),
  visit: float,
  /** From 1. */
  page: float,
  loadMs: optionalFloat,
} as const;

/** Which pages of a visit say what a kind gains: the first one is the page that brings the offer, and has a price of its own. */
const PAGES: Readonly<Record<Kind, readonly number[]>> = { next: [2, 3], return: [4] };
/** From this loss on a page's losses say more than its round trips. */
const LOSS_MAX = 0.01;
/** One page counts for no more, whatever befell it. */
const GAIN_MAX = 1.5;

type Row = RowOf<typeof BROWSER_PAGE>;

/**
 * What browsers gain, by the pages of clients to whom HTTP/3 was always offered and never, each client as often as it visits. Clients whose
 * networks drop UDP are left out, as are those who lose much. Pure.
 */
export function browserGainsOf(clients: readonly BrowserClient[], rows: readonly Row[]): PageGains {
  const at = ({ client, visit, page }: Row, arm: string): string => [client, arm, visit, page].join("/");
  const times = new Map(rows.map((row) => [at(row, row.arm), row.loadMs ?? PAGE_TIMEOUT_MS]));
  const byName = new Map(clients.map((client) => [client.name, client]));
  const gains = (kind: Kind): PageGain => {
    const places = rows.flatMap((row): Place[] => {
      const client = byName.get(row.client);
      const [never, always] = [times.get(at(row, "fixed-h2")), times.get(at(row, "always-offer"))];
      if (row.arm !== "always-offer" || !PAGES[kind].includes(row.page) || client === undefined) return [];
      if (never === undefined || always === undefined) return [];
      if (client.udpLossRatio > 0 || client.lossRatio >= LOSS_MAX) return [];
      const gain = Math.min(Math.max(Math.log(never / always), -GAIN_MAX), GAIN_MAX);
      return [{ rttMs: client.rttMs, bytes: browserBytes(pageOf(client)), gain, weight: client.weight }];
    });
    return fitOf(places, kind, true);
  };
  return { next: gains("next"), return: gains("return") };
}

/** Of the clients by whom policies are made, in recorded runs of `browser-clients`. @throws UserError where one has none of them */
export function browserGainsIn(folders: readonly string[]): PageGains {
  const clients = CALIBRATING_DRAWS.flatMap((draw) => readBrowserClients(draw));
  const rows = folders.map((folder) => rowsIn(resolve(ROOT, folder), BROWSER_PAGE));
  for (const [i, own] of rows.entries()) {
    const gains = browserGainsOf(clients, own);
    if (!Number.isFinite(gains.next.cost + gains.return.cost))
      throw new UserError(
        `${folders[i]} has no pages of the clients by whom policies are made, with HTTP/3 and without.`,
      );
  }
  return browserGainsOf(clients, rows.flat());
}
