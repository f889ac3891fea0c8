import { altSvcValue } from "../policy-api/decision/alt-svc.ts";
import { type AltSvcAnswer, applyAnswer, offersChangeAnswer } from "../policy-api/decision/offers.ts";
import { prefersH2, withAssets } from "./assets/name-assets.ts";
import { ANSWER_HEADERS } from "./actuator.ts";
import { type Advice, advise } from "./advise.ts";
import { keptSample } from "./cf.ts";
import { countPage } from "./count-page.ts";
import { logDecision } from "./decision-log.ts";
import type { Isolate } from "./isolate.ts";
import { type Found, isDrawn, lookUp, storedClient } from "./look-up.ts";
import { isNavigation, leadsOn } from "./navigation.ts";
import { fetchOrigin, mayRebuild } from "./origin.ts";
import { regionOf } from "./region.ts";
import { ask, isCounted, withAsked } from "./reporter/ask.ts";
import type { Asked } from "./reporter/asked.ts";
import { nonceOf } from "./reporter/token.ts";
import type { ClientNews } from "./report-buffer.ts";
import type { StoredClient, Stores } from "./stores.ts";

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
  let foundWithin: ReturnType<typeof lookUp>;
  try {
    foundWithin = lookUp(request, url, stores, ctx, isolate, (found) => ask(request, found, isolate));
  } catch {
    return fetching;
  }
  const response = await fetching;
  const found = await foundWithin(isolate.settings.budgetMs);
  try {
    return conclude(url, response, found, stores, ctx, isolate);
  } catch {
    return response;
  }
}

function conclude(
  url: URL,
  response: Response,
  found: Found,
  stores: Stores,
  ctx: ExecutionContext,
  isolate: Isolate,
): Response {
  const nowMs = Date.now();
  // A response that can carry no answer is decided nothing about, so that no offer is remembered.
  const advice = mayRebuild(response) ? advise(found, isolate, nowMs) : undefined;
  countPage(isolate, advice, found, response.status);
  const telling = isolate.tellCounts(stores, regionOf(found.connection), nowMs);
  if (telling !== undefined) ctx.waitUntil(telling);
  ctx.waitUntil(remember(url, response.status, advice, found, stores, isolate, nowMs));
  if (advice === undefined) return response;
  const value = altSvcValue(advice.decision.advertise, portOf(url));
  const { asked } = found;
  const { tellDecisions, actuator } = isolate.settings;
  const assets = prefersH2(advice) ? isolate.settings.assets : undefined;
  if (value === undefined && asked === undefined && !tellDecisions && assets === undefined) return response;
  // These headers are for one visitor: they are added after any cache, so that none stores them.
  const advertised = new Response(response.body, response);
  if (value !== undefined) advertised.headers.set(ANSWER_HEADERS[actuator], value);
  if (tellDecisions) advertised.headers.append("server-timing", `h3-why;desc="${toldOf(advice)}"`);
  const named = assets === undefined ? advertised : withAssets(advertised, url, assets);
  if (asked === undefined) return named;
  const page = withAsked(named, asked, advice, found, isolate, nowMs);
  if (page === undefined) return named;
  if (isCounted(asked.decision)) ctx.waitUntil(rememberAsked(asked, stores, isolate, nowMs));
  return page;
}

/** Keeps what this navigation taught, after the response. Never rejects. */
async function remember(
  url: URL,
  status: number,
  advice: Advice | undefined,
  found: Found,
  stores: Stores,
  isolate: Isolate,
  nowMs: number,
): Promise<void> {
  try {
    if (isolate.kill.held !== undefined) await isolate.retryKill(stores, nowMs);
    const news = newsOf(status, advice, found, nowMs);
    const logs = isolate.settings.logDecisions && advice !== undefined;
    const client = news === undefined && !logs ? found.client : storedClient(found, isolate);
    if (logs) logDecision(advice, found, client);
    if (client === undefined) return;
    const told = news && isolate.report(stores, client, news, nowMs);
    // Also what was just told.
    await share(url, client, found, isolate, nowMs);
    await told;
  } catch {
    // What is lost here, later samples show again.
  }
}

/** What the store does not know of this client. Undefined if there is nothing. */
function newsOf(status: number, advice: Advice | undefined, found: Found, nowMs: number): ClientNews | undefined {
  const answer = toldAnswer(advice, found, nowMs);
  // A redirect is no page. A reading that came with it would take the place of an older one, and the page that follows would be a later one.
  const sample = keptSample(found.connection, !leadsOn(status) && (answer !== undefined || isDrawn(found)));
  if (sample === undefined && answer === undefined) return undefined;
  return { ...(sample === undefined ? {} : { sample }), ...(answer === undefined ? {} : { answer }) };
}

/** Lets the isolates near this one know what this one knows of a client, unless they do. Never rejects. */
async function share(
  { origin }: URL,
  { keys }: StoredClient,
  found: Found,
  { nearby, recent }: Isolate,
  nowMs: number,
): Promise<void> {
  // Of drawn clients only the store is asked.
  if (nearby === undefined || isDrawn(found)) return;
  const shared = recent.share(keys.client);
  if (shared !== undefined) await nearby.keep(origin, keys.client, shared, nowMs);
}

/** Keeps that a page was asked to report, after the response. Never rejects. */
async function rememberAsked(
  { client, decision, token }: Asked,
  stores: Stores,
  isolate: Isolate,
  nowMs: number,
): Promise<void> {
  try {
    await isolate.report(stores, client, { decided: { ...decision, nonce: nonceOf(token) } }, nowMs);
  } catch {
    // The page is asked all the same.
  }
}

/**
 * The answer that goes to the store: one after which the client's next answer may be another one. All of drawn clients do, so that
 * neither arm is known better; and all where nobody knows what the store has.
 */
function toldAnswer(advice: Advice | undefined, found: Found, nowMs: number): AltSvcAnswer | undefined {
  const answer = answerOf(advice, nowMs);
  if (advice === undefined || answer === undefined || found.remembered === undefined || isDrawn(found)) return answer;
  return offersChangeAnswer(advice.offers, applyAnswer(advice.offers, answer), nowMs) ? answer : undefined;
}

/** What the client may hold from now on. Only the adaptive mode needs it: the policy tells what fixed modes offer. */
function answerOf(advice: Advice | undefined, nowMs: number): AltSvcAnswer | undefined {
  if (advice === undefined || advice.decision.mode !== "adaptive") return undefined;
  const { advertise } = advice.decision;
  if (advertise.kind === "nothing") return undefined;
  return {
    atMs: nowMs,
    origin: advice.origin,
    offerUntilMs: advertise.kind === "h3" ? nowMs + advertise.maS * 1000 : 0,
    ...(advice.earlierOffer === undefined ? {} : { earlierOffer: advice.earlierOffer }),
  };
}

/** What was decided for a page, in words: `offered for 60 s: h3-faster, version 3`. */
function toldOf({ decision: { advertise, reason }, policyVersion }: Advice): string {
  const answer = { h3: "offered", nothing: "nothing said", clear: "taken back" }[advertise.kind];
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
