import { policyFor } from "../../policy-api/decision/activation.ts";
import { ARM_HEADER, DRAWN_ARMS, type DrawnArm, periodAt } from "../../policy-api/decision/assignment.ts";
import { contentBytesOf, decide } from "../../policy-api/decision/decide.ts";
import { type AskedPage, positionOf } from "../../policy-api/visitors/page-outcome.ts";
import type { PageReport } from "../../policy-api/visitors/page-report.ts";
import type { CachedPolicy } from "../policy-cache.ts";
import type { StoredClient } from "../stores.ts";
import type { Visit } from "../visit.ts";
import { placeOf } from "./ask.ts";
import { NONCE_BYTES } from "./token.ts";

/** Where pages do not know their path, they are of the policy's default. */
const SOME_PATH = "/";

/**
 * The arm that the zone's rules drew for whoever sends this report. Undefined: none, or the report came by a way on which no rule stands,
 * where a visitor could have written the header.
 */
export function armByRule({ request, url, isolate }: Visit): DrawnArm | undefined {
  if (isolate.settings.ruleArms !== url.hostname) return undefined;
  const named = request.headers.get(ARM_HEADER);
  return DRAWN_ARMS.find((arm) => arm === named);
}

/**
 * What rules of a zone decided for a page that passed no worker, as far as its report tells. Where it stands among its client's pages is
 * known from those that reported. Undefined: no policy is in force that draws arms, so it is of no experiment.
 *
 * @throws if the store does not answer
 */
export async function decidedByRule(
  { isolate, stores, connection }: Visit,
  { inForce }: CachedPolicy,
  { keys, object }: StoredClient,
  arm: DrawnArm,
  report: PageReport,
  nowMs: number,
): Promise<AskedPage | undefined> {
  if (inForce === undefined || inForce.killSwitch !== null) return undefined;
  const { policy, version } = policyFor(inForce, SOME_PATH, undefined);
  if (policy === undefined || policy.mode !== "adaptive" || policy.exploration.share <= 0) return undefined;
  const pending = isolate.reports.pending(object.name, keys.client);
  const remembered = await stores.lookUp({ keys, object });
  const atMs = nowMs - report.atMs;
  // Of the report's own connection: no server saw the page's.
  const { rttMs } = connection.facts;
  const transport = report.protocol === "h3" ? "quic" : "tcp";
  const unit = arm === "offer" ? 0 : 1;
  // A rule withholds by `clear`, as it remembers no offer.
  const request = { transport, rttMs, path: SOME_PATH, earlierOffersUntilMs: nowMs } as const;
  const { advertise, propensity } = decide(request, { state: "unknown" }, policy, 0, unit);
  const contentBytes = contentBytesOf(policy, request);
  const place = placeOf(policy, undefined, rttMs, contentBytes);
  return {
    policyVersion: version,
    revision: inForce.revision,
    arm,
    advertised: advertise.kind,
    propensity,
    position: positionOf(remembered, pending, atMs, inForce.sinceMs),
    period: periodAt(atMs),
    ...(place === undefined ? {} : { place }),
    transport,
    ...(rttMs === undefined ? {} : { rttMs: Math.fround(rttMs) }),
    contentBytes,
    atMs,
    nonce: crypto.getRandomValues(new Uint8Array(NONCE_BYTES)).toBase64({ alphabet: "base64url" }),
  };
}
