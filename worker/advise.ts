import { modesByPath } from "../policy-api/decision/activation.ts";
import { decide, decideKilled, type Decision } from "../policy-api/decision/decide.ts";
import type { History, RequestFacts } from "../policy-api/decision/facts.ts";
import { historyAt } from "../policy-api/decision/history.ts";
import {
  type AltSvcAnswer,
  ANY_ORIGIN,
  applyAnswer,
  earlierOffer,
  lastQuicAtMs,
  NO_OFFER,
  offersOf,
  type OfferState,
  pausedUntilMs,
} from "../policy-api/decision/offers.ts";
import type { Found } from "./look-up.ts";
import { NO_NEWS } from "./news.ts";
import type { Visit } from "./visit.ts";

/** A decision and its inputs. */
export interface Advice {
  readonly request: RequestFacts;
  readonly history: History;
  readonly decision: Decision;
  readonly policyVersion: number;
  /** The offers that the client may hold, as this isolate knows them, without what is decided now. */
  readonly offers: OfferState;
  /** Whose offers: as the store knows it. */
  readonly origin: string;
  /** What this request says about an earlier offer. */
  readonly earlierOffer: AltSvcAnswer["earlierOffer"];
}

/**
 * Decides by what was found. Undefined without a policy, and without one that is young enough to make an offer: then the response says
 * nothing about HTTP/3.
 */
export function advise(visit: Visit, found: Found, nowMs: number): Advice | undefined {
  const { isolate, connection } = visit;
  const { active, cached, client, pending, remembered } = found;
  const inForce = cached?.inForce;
  if (inForce === undefined) return undefined;
  // Both: news that was on its way to the object when the look-up left may have arrived there since. Then it is in
  // neither the object's reply nor this isolate. To count it twice changes nothing.
  const now = client === undefined ? NO_NEWS : isolate.reports.pending(client.object.name, client.keys.client);
  const fresh = [...pending.samples, ...now.samples, ...(connection.sample === undefined ? [] : [connection.sample])];
  const offers = [...pending.answers, ...now.answers].reduce(applyAnswer, remembered?.offers ?? NO_OFFER);
  // Without a hasher there is no client, and nothing to remember.
  const origin = isolate.namer(cached)?.origin(visit.url.host) ?? ANY_ORIGIN;
  const own = offersOf(offers, origin);
  const history = historyAt(remembered, fresh, nowMs);
  const request: RequestFacts = {
    ...visit.facts,
    offerUntilMs: own.untilMs,
    earlierOffersUntilMs: inForce.earlierOffersUntilMs,
    offering: own.offering,
    answeredAtMs: own.answeredAtMs,
    pausedUntilMs: pausedUntilMs(offers, lastQuicAtMs(history, nowMs)),
    ...(found.shareUnit === undefined ? {} : { shareUnit: found.shareUnit }),
    ...(inForce.stages.length === 0 ? {} : { modesElsewhere: modesByPath(inForce) }),
  };
  const decision =
    inForce.killSwitch !== null
      ? decideKilled(inForce.killSwitch, request, nowMs)
      : active?.policy && decide(request, history, active.policy, nowMs, found.explorationUnit);
  if (decision === undefined) return undefined;
  const isOffer = decision.advertise.kind === "h3";
  // Drawn clients of both arms, so that neither loses pages which the other one keeps.
  if ((isOffer || decision.reason === "exploration") && found.isOutdated) return undefined;
  return {
    request,
    history,
    decision,
    policyVersion: (active ?? inForce.everyone).version,
    offers,
    origin,
    // During a pause, an offer from before the pause is still ignored: that must not make the pause longer. And an
    // offer of an earlier activation may have been taken back since, by a page that kept no record.
    earlierOffer:
      decision.reason === "udp-blocked" || own.answeredAtMs < inForce.sinceMs
        ? undefined
        : // By the request's time: a client cannot act on what it got while the origin worked.
          earlierOffer(request.transport, offers, origin, visit.atMs),
  };
}
