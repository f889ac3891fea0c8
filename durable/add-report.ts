import type { LevelState, MixChange } from "../policy-api/decision/mix.ts";
import { addToNetwork, addToUpper, EMPTY_LEVEL, givenSince, isNews, NO_MIX } from "../policy-api/decision/mix.ts";
import { applySamples } from "../policy-api/decision/levels.ts";
import { applyAnswer } from "../policy-api/decision/offers.ts";
import type { PathSample } from "../policy-api/decision/sample.ts";
import { addDecision, addOutcome, type AssignedClient } from "../policy-api/visitors/assigned-client.ts";
import { countPage, type PageFate } from "../policy-api/visitors/counted-pages.ts";
import { comparedWith, expectedTimes, type TimesBefore } from "../policy-api/visitors/expected-time.ts";
import type { AskedPage, PageNews } from "../policy-api/visitors/page-outcome.ts";
import { type ClientChange, withChange } from "../policy-api/visitors/sums-change.ts";
import type { ClientKeys, ClientReport, RefusedPages } from "./client-report.ts";
import { levelKey, networkKey, type PathRow } from "./path-row.ts";

/** What a report adds to. */
export interface Known {
  /** The client's. */
  readonly row: PathRow;
  /** What the client adds to sums of outcomes, and they do not have yet. */
  readonly waiting: readonly ClientChange[];
  /** By the key of its row. Undefined: it has none. */
  readonly level: (key: string) => LevelState | undefined;
  /** What pages took so far, by the key of their sums. */
  readonly timesBefore: (key: string) => TimesBefore | undefined;
  /** When the client's network was forgotten, if older news may still come. */
  readonly networkForgottenAtMs: number | undefined;
}

/** What becomes of it. */
export interface Added {
  readonly row: PathRow;
  readonly waiting: readonly ClientChange[];
  /** The levels that change, by the keys of their rows. */
  readonly levels: readonly (readonly [key: string, level: LevelState])[];
  /** The client's row must be written: what its network has of it and what its row says of that must not part, nor a page and its count. */
  readonly mustWrite: boolean;
  readonly refused: RefusedPages;
}

/** Adds what an isolate gathered about a client. Pure. */
export function addReport(report: ClientReport, known: Known, nowMs: number): Added {
  const { samples: pageSamples, refused, isFresh, waiting, ...pages } = addPages(report, known, nowMs);
  const samples = [...report.samples, ...pageSamples];
  const { client, given } = addSamples(samples, report.network, known, nowMs);
  return {
    row: {
      ...known.row,
      ...pages,
      client,
      offers: report.answers.reduce(applyAnswer, known.row.offers),
      lastAtMs: nowMs,
      network: report.network,
    },
    waiting,
    levels: given === undefined ? [] : giveOn(report, given, known),
    mustWrite: given !== undefined || isFresh,
    refused,
  };
}

/** The part of a report that is newer than the time when its client was forgotten. Undefined if nothing is. Pure. */
export function newsSince(report: ClientReport, forgottenAtMs: number | undefined): ClientReport | undefined {
  if (forgottenAtMs === undefined) return report;
  const isNewer = ({ atMs }: { readonly atMs: number }): boolean => atMs > forgottenAtMs;
  const news = {
    samples: report.samples.filter(isNewer),
    answers: report.answers.filter(isNewer),
    decided: (report.decided ?? []).filter(isNewer),
    pages: (report.pages ?? []).filter(({ outcome }) => isNewer(outcome)),
  };
  return Object.values(news).every((some) => some.length === 0) ? undefined : { ...report, ...news };
}

type ClientPages = Pick<PathRow, "assigned" | "countedPages"> & Pick<Known, "waiting">;

interface AddedPages extends ClientPages {
  /** What the connections of the pages that count showed. */
  readonly samples: readonly PathSample[];
  readonly refused: RefusedPages;
  /** Whether a page's report counts. */
  readonly isFresh: boolean;
}

function addPages({ decided = [], pages = [], asn }: ClientReport, known: Known, nowMs: number): AddedPages {
  const { assigned, countedPages } = known.row;
  let client: ClientPages = { assigned, countedPages, waiting: known.waiting };
  for (const page of decided) client = countOne(client, page, false, asn, nowMs).client;
  const refused = { replayed: 0, crowded: 0 };
  const fresh: PageNews[] = [];
  for (const page of pages) {
    const counted = countOne(client, { ...page.outcome, nonce: page.nonce }, true, asn, nowMs);
    client = counted.client;
    if (counted.fate === "replayed" || counted.fate === "crowded") {
      refused[counted.fate]++;
      continue;
    }
    fresh.push(page);
    client = addPageOutcome(client, page, asn, known);
  }
  return { ...client, samples: fresh.flatMap(({ samples }) => samples), refused, isFresh: fresh.length > 0 };
}

/** Counts that a page was decided about, by its decision or its report: by the one that comes first. */
function countOne(
  client: ClientPages,
  page: AskedPage,
  isReport: boolean,
  asn: number | undefined,
  nowMs: number,
): { client: ClientPages; fate: PageFate } {
  const { pages: countedPages, fate } = countPage(client.countedPages, page, isReport, nowMs);
  const after = fate === "first" ? addDecision(client.assigned, page, asn) : client.assigned;
  return { client: { ...assign(client, after), countedPages }, fate };
}

function addPageOutcome(
  client: ClientPages,
  { outcome }: PageNews,
  asn: number | undefined,
  known: Pick<Known, "timesBefore">,
): ClientPages {
  const { assigned } = client;
  if (assigned === undefined || outcome.arm === "policy") return client;
  // Not by the page's own RTT: that is measured over the protocol that the arm led to.
  const { rttMs } = assigned;
  const before = known.timesBefore(comparedWith({ rttMs }));
  const expected = expectedTimes({ rttMs, contentBytes: outcome.contentBytes }, before);
  const { client: after, times } = addOutcome(assigned, outcome, expected, asn);
  return assign(client, after, times === undefined ? [] : [times]);
}

function assign(
  client: ClientPages,
  after: AssignedClient | undefined,
  times: ClientChange["times"] = [],
): ClientPages {
  const { assigned: before, waiting } = client;
  if (after === undefined || after === before) return client;
  return { ...client, assigned: after, waiting: withChange(waiting, { before, after, times }) };
}

/** @returns what the client gives to its network; undefined if that is nothing new. */
function addSamples(
  samples: readonly PathSample[],
  network: string,
  { row, level, networkForgottenAtMs: sinceMs = Number.NEGATIVE_INFINITY }: Known,
  nowMs: number,
): { client: PathRow["client"]; given: MixChange | undefined } {
  // What is older than the time when the network was forgotten is still the client's.
  const older = samples.filter(({ atMs }) => atMs <= sinceMs);
  const newer = samples.filter(({ atMs }) => atMs > sinceMs);
  const { state, given: change } = applySamples(applySamples(row.client, older, nowMs).state, newer, nowMs);
  // A network that is not there has nothing of the client.
  const given = change.before === NO_MIX ? change : givenSince(change, level(networkKey(network))?.bornAtMs ?? nowMs);
  return isNews(given) ? { client: state, given } : { client: { ...state, given: given.before }, given: undefined };
}

/** A client gives to its network, and that a bounded share to its autonomous system and to the site. */
function giveOn(keys: ClientKeys, given: MixChange, known: Pick<Known, "level">): Added["levels"] {
  const key = networkKey(keys.network);
  const network = known.level(key) ?? EMPTY_LEVEL;
  const { state, given: onward } = addToNetwork(network, given, keys.asn);
  const changed: [string, LevelState][] = [[key, state]];
  if (onward.after === onward.before) return changed;
  for (const upper of ["asn", "site"] as const) {
    const upperKey = levelKey(upper, { ...keys, asn: state.asn });
    if (upperKey === undefined) continue;
    // Before its number was known, the system got nothing.
    const part = upper === "asn" && network.asn !== state.asn ? { ...onward, before: NO_MIX } : onward;
    changed.push([upperKey, addToUpper(known.level(upperKey) ?? EMPTY_LEVEL, part)]);
  }
  return changed;
}
