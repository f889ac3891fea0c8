import { DRAWN_ARMS } from "../decision/assignment.ts";
import type { TablePlace } from "../decision/gain-table.ts";
import { described, integer, number, object, oneOf, optional, type Read, type Reader } from "../decision/parse.ts";
import { addDecided, addReport, type ClientDay, EMPTY_DAY, PAGES_COUNTED, readClientDay } from "./client-day.ts";
import type { ExpectedTimes } from "./expected-time.ts";
import type { PageDecision, PageOutcome } from "./page-outcome.ts";
import {
  asnKey,
  cellKey,
  countryKey,
  EVERYWHERE,
  isRowKey,
  parsePeriodKey,
  periodKey,
  rttClassOf,
  rttKey,
} from "./row-keys.ts";

/** Under how many keys a client's pages count. Those under further keys count under the first ones alone. */
export const CLIENT_KEYS_MAX = 24;

/** What a page took, milliseconds, and under which keys it belongs into the sketches. */
export interface SketchTimes {
  readonly keys: readonly string[];
  readonly loadMs: number;
  readonly lcpMs?: number | undefined;
}

/**
 * Adds a page that was decided about. Nothing changes by a page of no drawn arm, by one whose place is unknown, and by one that is
 * older than the period, version or arm that the client has by now. Pure.
 *
 * @param asn The number of the client's autonomous system
 * @param country Of the client, two letters
 */
export function addDecision(
  client: AssignedClient | undefined,
  decision: PageDecision,
  asn: number | undefined,
  country?: string,
): AssignedClient | undefined {
  const { arm, position, period, policyVersion: version, atMs } = decision;
  if (arm === "policy" || position === "unknown") return client;
  const isSame = client !== undefined && isOf(client, decision);
  if (client !== undefined && !isSame && (period < client.period || atMs < client.atMs)) return client;
  const rows = { ...(isSame ? client.rows : {}) };
  const rttMs = (isSame ? client.rttMs : undefined) ?? decision.rttMs;
  const place = placeOf(isSame ? client.place : undefined, decision.place);
  if (position !== "redrawn")
    for (const key of keysOf(decision, { rttMs, place }, asn, country)) {
      const day = rows[key];
      if (day !== undefined || Object.keys(rows).length < CLIENT_KEYS_MAX) rows[key] = addDecided(day ?? EMPTY_DAY);
    }
  const last = isSame ? Math.max(client.atMs, atMs) : atMs;
  return {
    period,
    version,
    arm,
    atMs: last,
    ...(rttMs === undefined ? {} : { rttMs }),
    ...(place === undefined ? {} : { place }),
    rows,
  };
}

function placeOf(client: ClientPlace | undefined, page: TablePlace | undefined): ClientPlace | undefined {
  if (page === undefined) return client;
  const { rtt, loss } = { rtt: client?.rtt ?? page.rtt, loss: client?.loss ?? page.loss };
  return loss === undefined ? { rtt } : { rtt, loss };
}

/**
 * Adds what a page reported: to the period, version and arm that its decision was added to, and under the same keys. Otherwise, and
 * without the time of a load (the visitor left before), the page stays one that did not report. The same page must not be added
 * twice. Pure.
 */
export function addOutcome(
  client: AssignedClient | undefined,
  outcome: PageOutcome,
  expected: ExpectedTimes,
  asn: number | undefined,
  country?: string,
): { readonly client: AssignedClient | undefined; readonly times?: SketchTimes } {
  const { position, loadMs, lcpMs, transport } = outcome;
  if (client === undefined || !isOf(client, outcome)) return { client };
  if (position === "unknown" || position === "redrawn" || loadMs === undefined) return { client };
  const report = {
    overH3: transport === "quic",
    load: { ms: loadMs, expectedMs: expected.loadMs },
    lcp: lcpMs === undefined ? undefined : { ms: lcpMs, expectedMs: expected.lcpMs },
  };
  const rows = { ...client.rows };
  const keys: string[] = [];
  let isAdded = false;
  for (const key of keysOf(outcome, client, asn, country)) {
    const day = rows[key];
    const added = day && addReport(day, report);
    if (day === undefined || added === undefined) continue;
    isAdded = true;
    rows[key] = added;
    // A client's first pages belong into the sketches, as many as count. Sums alone show when an effect changes.
    if (day.load.pages < PAGES_COUNTED && parsePeriodKey(key) === undefined) keys.push(key);
  }
  if (!isAdded) return { client };
  const changed = { ...client, rows };
  return keys.length === 0 ? { client: changed } : { client: changed, times: { keys, loadMs, lcpMs } };
}

/** Whether a page belongs to what a client has. */
export function isOf(
  client: AssignedClient,
  { period, policyVersion, arm }: Pick<PageDecision, "period" | "policyVersion" | "arm">,
): boolean {
  return client.period === period && client.version === policyVersion && client.arm === arm;
}

/** Under which keys a page counts. The most important are first. */
function keysOf(
  { position, place, period }: PageDecision,
  client: Pick<AssignedClient, "rttMs" | "place">,
  asn: number | undefined,
  country = "",
): readonly string[] {
  const { rttMs } = client;
  const ofCountry = countryKey(country);
  const isInCell = place !== undefined && position !== "unknown" && position !== "redrawn";
  return [
    EVERYWHERE,
    ...(rttMs === undefined ? [] : [rttKey(rttClassOf(rttMs))]),
    // Other positions have other effects, and how many pages are of which changes while a site gets known.
    ...(rttMs === undefined || position !== "next" ? [] : [periodKey(period, rttClassOf(rttMs))]),
    ...(isInCell ? [cellKey({ position, ...atClient(place, client.place) })] : []),
    ...(asn === undefined ? [] : [asnKey(asn)]),
    ...(ofCountry === undefined ? [] : [ofCountry]),
  ];
}

/** A page that came before any loss was known stays in the cell of all losses. */
function atClient({ rtt, size, loss }: TablePlace, client: ClientPlace | undefined): TablePlace {
  return { rtt: client?.rtt ?? rtt, size, loss: loss === undefined ? undefined : (client?.loss ?? loss) };
}

const readRows: Reader<Readonly<Record<string, ClientDay>>> = described(
  (value, pointer, faults) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      faults.push({ pointer, message: "must be an object" });
      return {};
    }
    const entries = Object.entries(value);
    if (entries.length > CLIENT_KEYS_MAX || !entries.every(([key]) => isRowKey(key))) {
      faults.push({ pointer, message: `must have at most ${CLIENT_KEYS_MAX} keys of outcome rows` });
      return {};
    }
    return Object.fromEntries(
      entries.map(([key, day]) => [key, readClientDay(day, `${pointer}/${key.replaceAll("/", "~1")}`, faults)]),
    );
  },
  { type: "object", additionalProperties: readClientDay.schema ?? {}, maxProperties: CLIENT_KEYS_MAX },
);

/** Cells' keys have two digits for each node. */
const readNode = integer(0, 99);
const readPlace = object({ rtt: readNode, loss: optional(readNode) });
type ClientPlace = Read<typeof readPlace>;

export const readAssignedClient = object({
  period: integer(0, Number.MAX_SAFE_INTEGER),
  version: integer(0, Number.MAX_SAFE_INTEGER),
  arm: oneOf(...DRAWN_ARMS),
  /** Of the last page that was decided about, milliseconds since the epoch. */
  atMs: number(0, Number.MAX_VALUE),
  /**
   * The RTT of the first page in this period that has one, milliseconds. All pages of the client count in its class: a later
   * page's RTT is measured over the protocol that the arm led to.
   */
  rttMs: optional(number(0, Number.MAX_VALUE)),
  /**
   * Where its pages stand in the version's gain table: the RTT of the first page that has one, and the loss of the first page
   * that has one. Those of later pages may depend on the arm, and cells must not.
   */
  place: optional(readPlace),
  /** By the keys of outcome rows. Empty after a page that counts in no arm (`redrawn`), which only begins the period. */
  rows: readRows,
});

/**
 * What a client did in its present period of assignment, under one version and arm. Plain JSON, of bounded size.
 *
 * A client has one of these. With another period, version or arm a new one begins, and what the one before added up to stays
 * in the sums, as another client's. So a client that two versions decide about in turn, while a new one is rolled out, counts
 * as several clients.
 */
export type AssignedClient = Read<typeof readAssignedClient>;
