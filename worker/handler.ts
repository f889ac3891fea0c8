import { altSvcValue } from "../policy-api/core/alt-svc.ts";
import type { Answer } from "../policy-api/core/offers.ts";
import { KNOWN_PACKETS } from "../policy-api/core/path.ts";
import { type Advice, advise } from "./advise.ts";
import { logDecision } from "./decision-log.ts";
import type { Isolate } from "./isolate.ts";
import { type Found, lookUp, storedClient } from "./look-up.ts";
import { isNavigation } from "./navigation.ts";
import { fetchOrigin } from "./origin.ts";
import type { Stores } from "./stores.ts";

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
  const fetching = fetchOrigin(request, url, isolate.settings);
  if (!isNavigation(request)) return fetching;
  let foundWithin: ReturnType<typeof lookUp>;
  try {
    foundWithin = lookUp(request, url, stores, ctx, isolate);
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
  const advice = advise(found, isolate, nowMs);
  ctx.waitUntil(remember(advice, found, stores, isolate, nowMs));
  const value = advice === undefined ? undefined : altSvcValue(advice.decision.advertise, portOf(url));
  if (value === undefined) return response;
  // This header is for one visitor: it is added after any cache, so that none stores it.
  const advertised = new Response(response.body, response);
  advertised.headers.set("alt-svc", value);
  return advertised;
}

/** Keeps what this navigation taught, after the response. Never rejects. */
async function remember(
  advice: Advice | undefined,
  found: Found,
  stores: Stores,
  isolate: Isolate,
  nowMs: number,
): Promise<void> {
  try {
    if (isolate.kill.held !== undefined) await isolate.retryKill(stores, nowMs);
    const { connection } = found;
    // Our TLS edge posts this connection's samples too, but later. If this sample makes the client known, the next
    // navigation must know it too, even over another connection: else the answer would flap. A sample that arrives
    // twice counts once.
    const isKept = !connection.edgePostsSamples || (connection.sample?.packetsSent ?? 0) >= KNOWN_PACKETS;
    const sample = isKept ? connection.sample : undefined;
    const answer = answerOf(advice, nowMs);
    const logs = isolate.settings.logDecisions && advice !== undefined;
    if (sample === undefined && answer === undefined && !logs) return;
    const client = await storedClient(found, isolate);
    if (logs) logDecision(advice, found, client);
    if (client === undefined || (sample === undefined && answer === undefined)) return;
    const news = { ...(sample === undefined ? {} : { sample }), ...(answer === undefined ? {} : { answer }) };
    await isolate.report(stores, client, news, nowMs);
  } catch {
    // What is lost here, later samples show again.
  }
}

/** What the client may hold from now on. Only the adaptive mode needs it: the policy tells what fixed modes offer. */
function answerOf(advice: Advice | undefined, nowMs: number): Answer | undefined {
  if (advice === undefined || advice.decision.mode !== "adaptive") return undefined;
  const { advertise } = advice.decision;
  if (advertise.kind === "nothing") return undefined;
  return {
    atMs: nowMs,
    offerUntilMs: advertise.kind === "h3" ? nowMs + advertise.maS * 1000 : 0,
    ...(advice.earlierOffer === undefined ? {} : { earlierOffer: advice.earlierOffer }),
  };
}

/** The port that the visitor used: HTTP/3 is served on the same number. */
function portOf({ port }: URL): number {
  return port === "" ? 443 : Number(port);
}
