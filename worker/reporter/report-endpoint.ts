import { REPORT_LIFE_MS } from "../../policy-api/visitors/counted-pages.ts";
import { isOfPage, outcomeOf, type PageNews, samplesOf } from "../../policy-api/visitors/page-outcome.ts";
import { isAbsurd, parsePageReport } from "../../policy-api/visitors/page-report.ts";
import { connectionFacts, keptSample } from "../cf.ts";
import type { ReportFate } from "../counters.ts";
import type { Isolate } from "../isolate.ts";
import { LimitedLog } from "../limited-log.ts";
import { addressOf, storedClient } from "../look-up.ts";
import { regionOf } from "../region.ts";
import type { StoredClient, Stores } from "../stores.ts";
import { readBody } from "./read-body.ts";
import { reportPoint } from "./report-point.ts";
import { readToken } from "./token.ts";

/** A report with four connections has less than 2 KB. */
const BODY_MAX_BYTES = 4_096;
/** The clocks of two isolates may be this far apart, milliseconds. */
const CLOCKS_APART_MS = 2_000;

const pointsLog = new LimitedLog("Analytics Engine did not take a report");

interface Around {
  readonly stores: Stores;
  readonly ctx: Pick<ExecutionContext, "waitUntil">;
  readonly isolate: Isolate;
}

interface Judged {
  readonly client: StoredClient;
  readonly page: PageNews;
}

/**
 * Takes a page's report. Whoever sends it learns nothing: the answer is 204 whatever becomes of it, and nobody waits for
 * that. `isolate.reportCounts` says what became of it.
 *
 * @param points Gets a data point of each report that is accepted here. The object may still find that it is a replay
 */
export async function receiveReport(
  request: Request,
  stores: Stores,
  ctx: Pick<ExecutionContext, "waitUntil">,
  isolate: Isolate,
  points?: AnalyticsEngineDataset,
): Promise<Response> {
  const { reportCounts: counts } = isolate;
  // Also where no page comes any more that would tell it.
  const tell = async (): Promise<void> => {
    const nowMs = Date.now();
    await isolate.tellCounts(stores, regionOf(connectionFacts(request.cf, isolate.settings, nowMs)), nowMs);
  };
  if (request.method !== "POST") return new Response(null, { status: 405, headers: { allow: "POST" } });
  let body: string | undefined;
  try {
    body = await readBody(request, BODY_MAX_BYTES);
  } catch {
    counts.add("broken");
    ctx.waitUntil(tell());
    return new Response(null, { status: 400 });
  }
  if (body === undefined) {
    counts.add("oversized");
    ctx.waitUntil(tell());
    return new Response(null, { status: 413 });
  }
  ctx.waitUntil(keep(request, body, { stores, ctx, isolate, points }).then(tell));
  return new Response(null, { status: 204 });
}

/** Never rejects. */
async function keep(
  request: Request,
  body: string,
  { points, ...around }: Around & { readonly points: AnalyticsEngineDataset | undefined },
): Promise<void> {
  const { isolate, stores } = around;
  const nowMs = Date.now();
  try {
    const judged = await judge(request, body, nowMs, around);
    isolate.reportCounts.add(typeof judged === "string" ? judged : "accepted");
    if (typeof judged === "string") return;
    const sample = keptSample(connectionFacts(request.cf, isolate.settings, nowMs), true);
    const news = { page: judged.page, ...(sample === undefined ? {} : { sample }) };
    writePoint(points, judged);
    await isolate.report(stores, judged.client, news, nowMs);
  } catch {
    isolate.reportCounts.add("unready");
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
async function judge(
  request: Request,
  body: string,
  nowMs: number,
  { stores, ctx, isolate }: Around,
): Promise<Judged | ReportFate> {
  // Browsers say who sends it (Fetch Metadata Request Headers, section 2.3). Older ones say nothing.
  if ((request.headers.get("sec-fetch-site") ?? "same-origin") !== "same-origin") return "cross-site";
  const parsed = parsePageReport(jsonOf(body));
  if (!parsed.ok) return isAbsurd(parsed.faults) ? "absurd" : "malformed";
  const report = parsed.value;

  const connection = connectionFacts(request.cf, isolate.settings, nowMs);
  const address = addressOf(request, connection);
  await isolate.policyCache.ready(stores, ctx, nowMs);
  const { held } = isolate.policyCache;
  const client = storedClient({ client: undefined, address, held, connection }, isolate);
  if (held?.hasher === undefined || client === undefined) return "unready";

  const token = readToken(report.token, client.keys.client, held.hasher);
  if (token === undefined) return "unsigned";
  const { decision, nonce } = token;
  const ageMs = nowMs - decision.atMs;
  if (ageMs > REPORT_LIFE_MS || ageMs < -CLOCKS_APART_MS) return "late";
  if (!isOfPage(decision, report, nowMs)) return "absurd";
  if (!isolate.reports.takesPage(client.object.name, client.keys.client)) return "crowded";
  const { transport } = connection.facts;
  const after = { transport, rttMs: connection.sample?.rttMs, deliveryRateBps: connection.anyRateBps };
  return {
    client,
    page: {
      nonce,
      outcome: outcomeOf(decision, report, after),
      // Where the edge itself posts what a connection counts, the page has nothing to add, and could only count it twice.
      samples: connection.edgePostsSamples ? [] : samplesOf(report, after, nowMs),
    },
  };
}

/** Undefined if it is no JSON, which no reader takes. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
