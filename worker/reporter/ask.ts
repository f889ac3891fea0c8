import { periodAt } from "../../policy-api/decision/assignment.ts";
import { contentBytesOf } from "../../policy-api/decision/decide.ts";
import { nearestPlace, type TablePlace } from "../../policy-api/decision/gain-table.ts";
import type { Policy } from "../../policy-api/decision/policy.ts";
import { type AskedPage, type PageDecision, positionOf } from "../../policy-api/visitors/page-outcome.ts";
import type { Advice } from "../advise.ts";
import type { Found } from "../look-up.ts";
import { isPage } from "../pages/change-body.ts";
import type { Visit } from "../visit.ts";
import { mayInject, withTag } from "./inject.ts";
import { nonceOf, writeToken } from "./token.ts";

/** What a page that is asked to report takes along. */
export interface Question {
  readonly token: string;
  /** For the store, if it counts the page from when it is asked: of a drawn arm, where a missing report says something too. */
  readonly decided: AskedPage | undefined;
}

/**
 * Asks a page to report on what was decided for it, which is signed. Undefined: it is not asked, as the look-up was late or failed, the
 * response is no page, or nobody could remember that it was asked.
 */
export function ask(
  visit: Visit,
  found: Found,
  advice: Advice,
  response: Response,
  nowMs: number,
): Question | undefined {
  const { mayAsk: isAllowed, isComplete, client, cached } = found;
  const hasher = cached?.hasher;
  if (!isAllowed || !isComplete || client === undefined || hasher === undefined || !isPage(response)) return undefined;
  const decision = decisionOf(visit, found, advice, nowMs);
  const isCounted = decision.arm !== "policy" && decision.position !== "unknown";
  const { keys, object } = client;
  if (isCounted && !visit.isolate.reports.takes("decided", object.name, keys.client)) {
    visit.isolate.counters.add("news_dropped", { cause: "asked-page" });
    return undefined;
  }
  const token = writeToken(decision, keys.client, hasher);
  return { token, decided: isCounted ? { ...decision, nonce: nonceOf(token) } : undefined };
}

/**
 * Gives the page its token, in `Server-Timing` for the page's own script, and the reporter's tag where the policy says so.
 *
 * @param response One whose headers may be changed.
 */
export function withToken(response: Response, { active }: Found, { token }: Question): Response {
  // The origin's own entries stay.
  response.headers.append("server-timing", `h3;desc="${token}"`);
  return active?.policy?.reports?.inject === true && mayInject(response) ? withTag(response) : response;
}

function decisionOf(
  { atMs }: Visit,
  { active, arm, cached, remembered, pending }: Found,
  { decision, request, policyVersion }: Advice,
  nowMs: number,
): PageDecision {
  const policy = active?.policy;
  const rttMs = decision.rttMs ?? request.rttMs;
  // No first byte comes sooner, and it is the same over both protocols.
  const smallestMs = request.minRttMs ?? rttMs;
  const contentBytes = decision.contentBytes ?? (policy === undefined ? 0 : contentBytesOf(policy, request));
  const place = placeOf(policy, decision.lossRatio, rttMs, contentBytes);
  return {
    policyVersion,
    revision: cached?.inForce?.revision ?? 0,
    // By the draw, also where a client's offers pause: those are mostly clients that were drawn to be offered.
    arm: arm ?? "policy",
    advertised: decision.advertise.kind,
    propensity: decision.propensity,
    // Of the moment of the draw: neither may change while the origin works.
    position: positionOf(remembered, pending, atMs, cached?.inForce?.sinceMs ?? 0),
    period: periodAt(atMs),
    ...(place === undefined ? {} : { place }),
    transport: request.transport,
    // As the token has it: whichever of decision and report comes first counts the page.
    ...(smallestMs === undefined ? {} : { rttMs: Math.fround(smallestMs) }),
    contentBytes,
    atMs: nowMs,
  };
}

/** The place of a page in the gain table: without a loss where too few packets of its client were counted. */
export function placeOf(
  policy: Policy | undefined,
  lossRatio: number | undefined,
  rttMs: number | undefined,
  contentBytes: number,
): TablePlace | undefined {
  if (policy?.method?.kind !== "gains" || rttMs === undefined) return undefined;
  return nearestPlace(policy.method.table, { rttMs, contentBytes, lossRatio });
}
