import { periodAt } from "../../policy-api/decision/assignment.ts";
import { ownLoss } from "../../policy-api/decision/belief.ts";
import { contentBytesOf, drawnArm } from "../../policy-api/decision/decide.ts";
import { nearestPlace, type TablePlace } from "../../policy-api/decision/gain-table.ts";
import { type Arm, type PageDecision, positionOf } from "../../policy-api/visitors/page-outcome.ts";
import type { Policy } from "../../policy-api/decision/policy.ts";
import { type Advice, advise } from "../advise.ts";
import type { Isolate } from "../isolate.ts";
import { activeFor, type Found, storedClient } from "../look-up.ts";
import { isPage } from "../pages/change-body.ts";
import type { Asked } from "./asked.ts";
import { mayInject, withTag } from "./inject.ts";
import { writeToken } from "./token.ts";

/**
 * Asks a page to report, if the policy and the visitor let it: at the end of the look-up, when what is reported on is known.
 * Undefined: it is not asked, which costs nothing where no page is.
 */
export function ask({ headers }: Request, found: Found, isolate: Isolate): Asked | undefined {
  const { held, address } = found;
  const reports = activeFor(found)?.policy?.reports;
  const hasher = held?.hasher;
  if (reports === undefined || reports.share <= 0 || hasher === undefined || address === undefined) return undefined;
  // Under the kill switch no policy decides, and no load says anything about one.
  if (held?.inForce?.killSwitch !== null || declines(headers)) return undefined;
  const { share, inject } = reports;
  if (share < 1 && hasher.reportingUnit(address) >= share) return undefined;
  const client = storedClient(found, isolate);
  const nowMs = Date.now();
  const advice = advise(found, isolate, nowMs);
  if (client === undefined || advice === undefined) return undefined;
  const decision = decisionOf(advice, found, nowMs);
  return { decision, client, token: writeToken(decision, client.keys.client, hasher), inject };
}

/**
 * Whether a visitor does not want it: by Global Privacy Control, or because they save data. A page that is only fetched ahead
 * of time would report a load that nobody waited for.
 */
function declines(headers: Headers): boolean {
  return (
    headers.get("sec-gpc") === "1" ||
    headers.get("save-data")?.toLowerCase() === "on" ||
    headers.has("sec-purpose") ||
    headers.has("purpose")
  );
}

/**
 * Gives the page what it takes along, for `Server-Timing` of the page's own script. If the decision was another one in the
 * end, the response is no page, or nobody could remember that it was asked, it is not asked: then the result is undefined.
 *
 * @param response One whose headers may be changed.
 */
export function withAsked(
  response: Response,
  asked: Asked,
  advice: Advice,
  found: Found,
  isolate: Isolate,
  nowMs: number,
): Response | undefined {
  if (!isPage(response) || !isSame(asked.decision, decisionOf(advice, found, nowMs))) return undefined;
  const { keys, object } = asked.client;
  if (isCounted(asked.decision) && !isolate.reports.takesDecided(object.name, keys.client)) {
    isolate.reports.dropped.add("asked-page");
    return undefined;
  }
  // The origin's own entries stay.
  response.headers.append("server-timing", `h3;desc="${asked.token}"`);
  return asked.inject && mayInject(response) ? withTag(response) : response;
}

/** Whether the store counts the page from when it is asked: of a drawn arm, where a missing report says something too. */
export function isCounted({ arm, position }: PageDecision): boolean {
  return arm !== "policy" && position !== "unknown";
}

function isSame(a: PageDecision, b: PageDecision): boolean {
  return JSON.stringify({ ...a, atMs: 0 }) === JSON.stringify({ ...b, atMs: 0 });
}

function decisionOf({ decision, request, policyVersion }: Advice, found: Found, nowMs: number): PageDecision {
  const policy = activeFor(found)?.policy;
  const rttMs = decision.rttMs ?? request.rttMs;
  const contentBytes = decision.contentBytes ?? (policy === undefined ? 0 : contentBytesOf(policy, request));
  const place = placeOf(policy, decision, rttMs, contentBytes);
  return {
    policyVersion,
    revision: found.held?.inForce?.revision ?? 0,
    arm: armOf(decision, policy, found.explorationUnit),
    advertised: decision.advertise.kind,
    propensity: decision.propensity,
    // Of the moment of the draw: neither may change while the origin works.
    position: positionOf(found.remembered, found.pending, found.atMs, found.held?.inForce?.sinceMs ?? 0),
    period: periodAt(found.atMs),
    ...(place === undefined ? {} : { place }),
    transport: request.transport,
    // As the token has it: whichever of decision and report comes first counts the page.
    ...(rttMs === undefined ? {} : { rttMs: Math.fround(rttMs) }),
    contentBytes,
    atMs: nowMs,
  };
}

/** Without a loss where too few packets of this client were counted: then the belief is what is thought of its neighbours. */
function placeOf(
  policy: Policy | undefined,
  { belief }: Advice["decision"],
  rttMs: number | undefined,
  contentBytes: number,
): TablePlace | undefined {
  if (policy?.method?.kind !== "gains" || rttMs === undefined) return undefined;
  const lossRatio = belief && ownLoss(belief);
  return nearestPlace(policy.method.table, { rttMs, contentBytes, lossRatio });
}

/** By the draw, also where a client's offers pause: those are mostly clients that were drawn to be offered. */
function armOf({ mode }: Advice["decision"], policy: Policy | undefined, unit: number | undefined): Arm {
  return (mode === "adaptive" && policy !== undefined ? drawnArm(policy, unit) : undefined) ?? "policy";
}
