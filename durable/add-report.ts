import { addSample } from "../policy-api/decision/connections.ts";
import { applyAnswer } from "../policy-api/decision/offers.ts";
import { inOrder, type PathSample } from "../policy-api/decision/sample.ts";
import { addDecision, addOutcome, type AssignedClient } from "../policy-api/visitors/assigned-client.ts";
import { countPage, type PageFate } from "../policy-api/visitors/counted-pages.ts";
import { comparedWith, expectedTimes, type TimesBefore } from "../policy-api/visitors/expected-time.ts";
import type { AskedPage, PageNews } from "../policy-api/visitors/page-outcome.ts";
import { type ClientChange, withChange } from "../policy-api/visitors/sums-change.ts";
import type { ClientKeys, ClientReport, RefusedPages } from "./client-report.ts";
import type { PathRow } from "./path-row.ts";

/** What a report adds to. */
export interface Known {
  /** The client's. */
  readonly row: PathRow;
  /** What the client adds to sums of outcomes, and they do not have yet. */
  readonly waiting: readonly ClientChange[];
  /** What pages took so far, by the key of their sums. */
  readonly timesBefore: (key: string) => TimesBefore | undefined;
}

/** What becomes of it. */
export interface Added {
  readonly row: PathRow;
  readonly waiting: readonly ClientChange[];
  /** The row must be written: a page and its count must not part. */
  readonly mustWrite: boolean;
  readonly refused: RefusedPages;
}

/** Adds what an isolate gathered about a client. Pure. */
export function addReport(report: ClientReport, known: Known, nowMs: number): Added {
  const { samples: pageSamples, refused, isFresh, waiting, ...pages } = addPages(report, known, nowMs);
  const samples = [...report.samples, ...pageSamples];
  const { client } = known.row;
  return {
    row: {
      ...known.row,
      ...pages,
      client: { connections: inOrder(samples).reduce(addSample, client.connections) },
      offers: report.answers.reduce(applyAnswer, known.row.offers),
      lastAtMs: nowMs,
      network: report.network,
    },
    waiting,
    mustWrite: isFresh,
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

function addPages(report: ClientReport, known: Known, nowMs: number): AddedPages {
  const { decided = [], pages = [] } = report;
  const { assigned, countedPages } = known.row;
  let client: ClientPages = { assigned, countedPages, waiting: known.waiting };
  for (const page of decided) client = countOne(client, page, false, report, nowMs).client;
  const refused = { replayed: 0, crowded: 0 };
  const fresh: PageNews[] = [];
  for (const page of pages) {
    const counted = countOne(client, { ...page.outcome, nonce: page.nonce }, true, report, nowMs);
    client = counted.client;
    if (counted.fate === "replayed" || counted.fate === "crowded") {
      refused[counted.fate]++;
      continue;
    }
    fresh.push(page);
    client = addPageOutcome(client, page, report, known);
  }
  return { ...client, samples: fresh.flatMap(({ samples }) => samples), refused, isFresh: fresh.length > 0 };
}

/** Counts that a page was decided about, by its decision or its report: by the one that comes first. */
function countOne(
  client: ClientPages,
  page: AskedPage,
  isReport: boolean,
  { asn, country }: ClientKeys,
  nowMs: number,
): { client: ClientPages; fate: PageFate } {
  const { pages: countedPages, fate } = countPage(client.countedPages, page, isReport, nowMs);
  const after = fate === "first" ? addDecision(client.assigned, page, asn, country) : client.assigned;
  return { client: { ...assign(client, after), countedPages }, fate };
}

function addPageOutcome(
  client: ClientPages,
  { outcome }: PageNews,
  { asn, country }: ClientKeys,
  known: Pick<Known, "timesBefore">,
): ClientPages {
  const { assigned } = client;
  if (assigned === undefined || outcome.arm === "policy") return client;
  // Not by the page's own RTT: that is measured over the protocol that the arm led to.
  const { rttMs } = assigned;
  const before = known.timesBefore(comparedWith({ rttMs }));
  const expected = expectedTimes({ rttMs, contentBytes: outcome.contentBytes }, before);
  const { client: after, times } = addOutcome(assigned, outcome, expected, asn, country);
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
