import { resolve } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { browserBytes, PAGE_TIMEOUT_MS } from "../../model/browser-pages.ts";
import { type BrowserClient, pageOf, readBrowserClients } from "../../model/clients.ts";
import { rowsIn } from "../../model/recorded-run.ts";
import { float, optionalFloat, type RowOf, string } from "../../model/row-schema.ts";
import { type BrowserGain, type BrowserGains, type Kind, roundTripGain } from "./lean.ts";

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
const STEP = 0.01;
const STEPS = 300;

/** A page of a client over both protocols. */
interface Pair {
  readonly client: BrowserClient;
  readonly page: number;
  /** ln(HTTP/2's time / HTTP/3's). */
  readonly gain: number;
}

/**
 * What browsers gain, by the pages of clients to whom HTTP/3 was always offered and never: least squares, each client as often as it visits.
 * Clients whose networks drop UDP are left out, as are those who lose much. Pure.
 */
export function browserGainsOf(
  clients: readonly BrowserClient[],
  rows: readonly RowOf<typeof BROWSER_PAGE>[],
): BrowserGains {
  const pairs = pairsOf(clients, rows);
  const gains = (kind: Kind): BrowserGain =>
    fitOf(
      pairs.filter(({ page }) => PAGES[kind].includes(page)),
      kind,
    );
  return { next: gains("next"), return: gains("return") };
}

function pairsOf(clients: readonly BrowserClient[], rows: readonly RowOf<typeof BROWSER_PAGE>[]): Pair[] {
  const at = ({ client, arm, visit, page }: Pick<RowOf<typeof BROWSER_PAGE>, "client" | "arm" | "visit" | "page">) =>
    `${client}/${arm}/${visit}/${page}`;
  const times = new Map(rows.map((row) => [at(row), row.loadMs ?? PAGE_TIMEOUT_MS]));
  const byName = new Map(clients.map((client) => [client.name, client]));
  return rows.flatMap((row) => {
    const client = byName.get(row.client);
    const never = times.get(at({ ...row, arm: "fixed-h2" }));
    const always = times.get(at(row));
    if (row.arm !== "always-offer" || never === undefined || always === undefined || client === undefined) return [];
    if (client.udpLossRatio > 0 || client.lossRatio >= LOSS_MAX) return [];
    const gain = Math.log(never / always);
    return [{ client, page: row.page, gain: Math.min(Math.max(gain, -GAIN_MAX), GAIN_MAX) }];
  });
}

function fitOf(pairs: readonly Pair[], kind: Kind): BrowserGain {
  const weight = pairs.reduce((sum, { client }) => sum + client.weight, 0);
  const mean = (of: (pair: Pair) => number): number =>
    pairs.reduce((sum, pair) => sum + pair.client.weight * of(pair), 0) / weight;
  const trips = (gain: number, { client }: Pair): number =>
    roundTripGain(gain, kind, client.rttMs, browserBytes(pageOf(client)));
  const fits = Array.from({ length: 2 * STEPS + 1 }, (_, i) => {
    const gain = (i - STEPS) * STEP;
    const cost = mean((pair) => trips(gain, pair) - pair.gain);
    return { gain, cost, se: Math.sqrt(mean((pair) => (pair.gain - trips(gain, pair) + cost) ** 2)) };
  });
  return fits.reduce((best, one) => (one.se < best.se ? one : best));
}

/** Of the clients by whom policies are made, in a recorded run of `browser-clients`. @throws UserError without one */
export function browserGainsIn(folder: string): BrowserGains {
  const gains = browserGainsOf(readBrowserClients(1), rowsIn(resolve(ROOT, folder), BROWSER_PAGE));
  if (!Number.isFinite(gains.next.cost + gains.return.cost))
    throw new UserError(`${folder} has no pages of the clients of --draw 1, with HTTP/3 and without.`);
  return gains;
}
