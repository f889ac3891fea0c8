import { altSvcValue, ANSWER_HEADERS } from "../policy-api/decision/alt-svc.ts";
import { type AltSvcAnswer, applyAnswer, offersChangeAnswer } from "../policy-api/decision/offers.ts";
import type { AskedPage } from "../policy-api/visitors/page-outcome.ts";
import { prefersH2, withAssets } from "./assets/name-assets.ts";
import { type Advice, advise } from "./advise.ts";
import { keptSample } from "./cf.ts";
import { countPage } from "./count-page.ts";
import { logDecision } from "./decision-log.ts";
import type { Isolate } from "./isolate.ts";
import { type Found, lookUp } from "./look-up.ts";
import { fetchOrigin, mayRebuild } from "./origin.ts";
import { regionOf } from "./region.ts";
import { ask, withToken } from "./reporter/ask.ts";
import type { StoredClient, Stores } from "./stores.ts";
import { isNavigation, leadsOn, storedClient, type Visit, visitOf } from "./visit.ts";

/**
 * The visitor's path. The origin is asked at once. For a navigation the look-up runs beside it, and adds at most
 * `budgetMs` after the origin's headers. If the look-up fails, the visitor still gets the origin's response. If the
 * origin fails, the visitor sees that failure.
 *
 * @param url The request's URL, parsed once.
 */
export async function handleVisitor(
  request: Request,
  url: URL,
  stores: Stores,
  ctx: ExecutionContext,
  isolate: Isolate,
): Promise<Response> {
  const fetching = fetchOrigin(request, url, isolate);
  if (!isNavigation(request) || isPlain(url, isolate)) return fetching;
  let visit: Visit;
  let foundWithin: ReturnType<typeof lookUp>;
  try {
    visit = visitOf(request, url, stores, ctx, isolate);
    foundWithin = lookUp(visit);
  } catch {
    return fetching;
  }
  const response = await fetching;
  const found = await foundWithin(isolate.settings.budgetMs);
  try {
    return conclude(visit, found, response);
  } catch {
    return response;
  }
}

function conclude(visit: Visit, found: Found, response: Response): Response {
  const { isolate, ctx, url } = visit;
  const { actuator, assets, announceDecisions } = isolate.settings;
  const nowMs = Date.now();
  // A response that can carry no answer is decided nothing about, so that no offer is remembered.
  const advice = mayRebuild(response) ? advise(visit, found, nowMs) : undefined;
  const question = advice && ask(visit, found, advice, response, nowMs);
  countPage(isolate.counters, found, advice, response.status);
  isolate.flushCounts(visit, regionOf(visit.connection), nowMs);
  ctx.waitUntil(remember(visit, found, advice, question?.decided, response.status, nowMs));
  if (advice === undefined) return response;
  const value = altSvcValue(advice.decision.advertise, portOf(url));
  const files = prefersH2(advice) ? assets : undefined;
  if (value === undefined && question === undefined && !announceDecisions && files === undefined) return response;
  // These headers are for one visitor: they are added after any cache, so that none stores them.
  const advertised = new Response(response.body, response);
  if (value !== undefined) advertised.headers.set(ANSWER_HEADERS[actuator], value);
  if (announceDecisions) advertised.headers.append("server-timing", `h3-why;desc="${announcementOf(advice)}"`);
  const named = files === undefined ? advertised : withAssets(advertised, url, files);
  return question === undefined ? named : withToken(named, found, question);
}

/**
 * Keeps what this navigation taught, and that its page was asked to report, after the response. Never rejects.
 *
 * @param decided The page, if the store counts it from when it is asked.
 */
async function remember(
  visit: Visit,
  found: Found,
  advice: Advice | undefined,
  decided: AskedPage | undefined,
  status: number,
  nowMs: number,
): Promise<void> {
  const { isolate, stores } = visit;
  try {
    if (isolate.kill.unstored !== undefined) await isolate.retryKill(stores, nowMs);
    const answer = advice && newAnswer(found, advice, nowMs);
    // A redirect is no page. A reading that came with it would take the place of an older one, and the page that follows would be a later one.
    const sample = keptSample(visit.connection, !leadsOn(status) && (answer !== undefined || found.arm !== undefined));
    const isNews = sample !== undefined || answer !== undefined || decided !== undefined;
    const logs = isolate.settings.logDecisions && advice !== undefined;
    const client = found.client ?? (isNews || logs ? storedClient(visit, found.cached) : undefined);
    if (logs) logDecision(visit, advice, client);
    if (client === undefined) return;
    const reported = isNews ? isolate.report(stores, client, { sample, answer, decided }, nowMs) : undefined;
    // Also what was just reported.
    await share(visit, found, client, nowMs);
    await reported;
  } catch {
    // What is lost here, later samples show again.
  }
}

/** Lets the isolates near this one know what this one knows of a client, unless they do. Never rejects. */
async function share(visit: Visit, { arm }: Found, { keys }: StoredClient, nowMs: number): Promise<void> {
  const { nearby, recent } = visit.isolate;
  // Of drawn clients only the store is asked.
  if (nearby === undefined || arm !== undefined) return;
  const shared = recent.share(keys.client);
  if (shared !== undefined) await nearby.keep(visit.url.origin, keys.client, shared, nowMs);
}

/**
 * The answer that goes to the store: one after which the client's next answer may be another one. All of drawn clients do, so that
 * neither arm is known better; and all where nobody knows what the store has.
 */
function newAnswer({ remembered, arm }: Found, advice: Advice, nowMs: number): AltSvcAnswer | undefined {
  const answer = answerOf(advice, nowMs);
  if (answer === undefined || remembered === undefined || arm !== undefined) return answer;
  return offersChangeAnswer(advice.offers, applyAnswer(advice.offers, answer), nowMs) ? answer : undefined;
}

/** What the client may hold from now on. Only the adaptive mode needs it: the policy tells what fixed modes offer. */
function answerOf(advice: Advice, nowMs: number): AltSvcAnswer | undefined {
  const { mode, advertise } = advice.decision;
  if (mode !== "adaptive" || advertise.kind === "nothing") return undefined;
  return {
    atMs: nowMs,
    origin: advice.origin,
    offerUntilMs: advertise.kind === "h3" ? nowMs + advertise.maS * 1000 : 0,
    ...(advice.earlierOffer === undefined ? {} : { earlierOffer: advice.earlierOffer }),
  };
}

/** What was decided for a page, in words: `offered for 60 s: h3-faster, version 3`. */
function announcementOf({ decision: { advertise, reason }, policyVersion }: Advice): string {
  const answer = { h3: "offered", nothing: "nothing said", clear: "any earlier offer taken back" }[advertise.kind];
  const life = advertise.kind === "h3" ? ` for ${advertise.maS} s` : "";
  return `${answer}${life}: ${reason}, version ${policyVersion}`;
}

/**
 * Whether the visitor came without TLS. Browsers ignore an Alt-Svc there (RFC 7838 section 2.1), so that nothing is to be decided. Only
 * Cloudflare's URLs say so: behind other edges workerd's begin with http: though visitors came over TLS.
 */
function isPlain({ protocol }: URL, { settings }: Isolate): boolean {
  return settings.edge === "cloudflare" && protocol === "http:";
}

/** The port that the visitor used: HTTP/3 is served on the same number. */
function portOf({ port }: URL): number {
  return port === "" ? 443 : Number(port);
}
