import { REPORT_LIFE_MS } from "../../policy-api/visitors/counted-pages.ts";
import {
  type AskedPage,
  isOfPage,
  outcomeOf,
  type PageNews,
  samplesOf,
} from "../../policy-api/visitors/page-outcome.ts";
import { isAbsurd, type PageReport, parsePageReport } from "../../policy-api/visitors/page-report.ts";
import { keptSample } from "../cf.ts";
import type { ReportFate } from "../counters.ts";
import { LimitedLog } from "../log.ts";
import type { CachedPolicy } from "../policy-cache.ts";
import { regionOf } from "../region.ts";
import type { StoredClient } from "../stores.ts";
import { storedClient, type Visit } from "../visit.ts";
import { readBody } from "./read-body.ts";
import { reportPoint } from "./report-point.ts";
import { armByRule, decidedByRule } from "./rule-arm.ts";
import { readToken } from "./token.ts";

/** A report with four connections has less than 2 KB. */
const BODY_MAX_BYTES = 4_096;
/** The clocks of two isolates may be this far apart, milliseconds. */
const CLOCKS_APART_MS = 2_000;

const pointsLog = new LimitedLog("Analytics Engine did not take a report");

interface Judged {
  readonly client: StoredClient;
  readonly page: PageNews;
  /** The page, if nobody told the store of it before. It then knows at once where the client's next page stands. */
  readonly decided: AskedPage | undefined;
}

/**
 * Takes a page's report. Whoever sends it learns nothing: the answer is 204 whatever becomes of it, and nobody waits for
 * that. The counters say what became of it.
 *
 * @param points Gets a data point of each report that is accepted here. The object may still find that it is a replay
 */
export async function receiveReport(visit: Visit, points?: AnalyticsEngineDataset): Promise<Response> {
  const { request, ctx } = visit;
  if (request.method !== "POST") return new Response(null, { status: 405, headers: { allow: "POST" } });
  const refused = (fate: ReportFate, status: number): Response => {
    count(visit, fate);
    flush(visit);
    return new Response(null, { status });
  };
  let body: string | undefined;
  try {
    body = await readBody(request, BODY_MAX_BYTES);
  } catch {
    return refused("broken", 400);
  }
  if (body === undefined) return refused("oversized", 413);
  ctx.waitUntil(keep(visit, body, points).finally(() => flush(visit)));
  return new Response(null, { status: 204 });
}

function count({ isolate: { counters } }: Visit, fate: ReportFate): void {
  counters.add("reports", { fate });
}

/** Also where no page comes any more that would do it. */
function flush(visit: Visit): void {
  visit.isolate.flushCounts(visit, regionOf(visit.connection), Date.now());
}

/** Never rejects. */
async function keep(visit: Visit, body: string, points: AnalyticsEngineDataset | undefined): Promise<void> {
  const { isolate, stores, connection } = visit;
  const nowMs = Date.now();
  try {
    const judged = await judge(visit, body, nowMs);
    count(visit, typeof judged === "string" ? judged : "accepted");
    if (typeof judged === "string") return;
    writePoint(points, judged);
    const news = { page: judged.page, decided: judged.decided, sample: keptSample(connection, true) };
    await isolate.report(stores, judged.client, news, nowMs);
  } catch {
    count(visit, "unready");
  }
}

/** Analytics Engine refuses a point by an exception. That is no fault of the report. */
function writePoint(points: AnalyticsEngineDataset | undefined, { client, page }: Judged): void {
  try {
    points?.writeDataPoint(reportPoint(page.outcome, client.keys.asn));
  } catch (error) {
    pointsLog.write(error);
  }
}

/** What a report says of its page; or else why it does not count. */
async function judge(visit: Visit, body: string, nowMs: number): Promise<Judged | ReportFate> {
  const { request, stores, ctx, isolate, connection } = visit;
  // Browsers say who sends it (Fetch Metadata Request Headers, section 2.3). Older ones say nothing.
  if ((request.headers.get("sec-fetch-site") ?? "same-origin") !== "same-origin") return "cross-site";
  const parsed = parsePageReport(jsonOf(body));
  if (!parsed.ok) return isAbsurd(parsed.faults) ? "absurd" : "malformed";
  const report = parsed.value;

  await isolate.policyCache.ready(stores, ctx, nowMs, visit.url.origin);
  const cached = isolate.policyCache.current;
  const client = storedClient(visit, cached);
  if (cached?.hasher === undefined || client === undefined) return "unready";

  const asked = await askedPage(visit, cached, client, report, nowMs);
  if (asked === undefined) return "unsigned";
  const { nonce, ...decision } = asked;
  const isByRule = report.token === undefined;
  const ageMs = nowMs - decision.atMs;
  if (ageMs > REPORT_LIFE_MS || ageMs < -CLOCKS_APART_MS) return "late";
  // What a rule decided is reckoned from the report itself.
  if (!isByRule && !isOfPage(decision, report, nowMs)) return "absurd";
  for (const kind of isByRule ? (["pages", "decided"] as const) : (["pages"] as const))
    if (!isolate.reports.takes(kind, client.object.name, client.keys.client)) return "crowded";
  const { transport } = connection.facts;
  const after = { transport, rttMs: connection.sample?.rttMs, deliveryRateBps: connection.anyRateBps };
  return {
    client,
    decided: isByRule ? asked : undefined,
    page: {
      nonce,
      outcome: outcomeOf(decision, report, after),
      // Where the edge itself posts what a connection counts, the page has nothing to add, and could only count it twice.
      samples: connection.edgePostsSamples ? [] : samplesOf(report, after, nowMs),
    },
  };
}

/** The page of a report: as the worker signed it, or as a rule drew its client. Undefined: neither. */
async function askedPage(
  visit: Visit,
  cached: CachedPolicy,
  client: StoredClient,
  report: PageReport,
  nowMs: number,
): Promise<AskedPage | undefined> {
  if (report.token !== undefined) {
    const read = cached.hasher && readToken(report.token, client.keys.client, cached.hasher);
    return read && { ...read.decision, nonce: read.nonce };
  }
  const arm = armByRule(visit);
  return arm && decidedByRule(visit, cached, client, arm, report, nowMs);
}

/** Undefined if it is no JSON, which no reader takes. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
