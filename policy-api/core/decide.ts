import type { Advertise } from "./alt-svc.ts";
import { type Basis, pathOf } from "./path.ts";
import type { History, RequestFacts } from "./facts.ts";
import type { Mode, Policy } from "./policy.ts";
import { type PathFacts, type PredictedTimes, predictTimes } from "./times.ts";

export type Reason =
  | "mode-observe"
  | "mode-fixed-h2"
  | "mode-fixed-h3"
  /** Nothing is known of this client or its network: as the policy's cold start says. */
  | "cold-start"
  /** The predicted saving is above the margin: offered. */
  | "h3-faster"
  /** HTTP/2 is predicted to be faster: not offered. */
  | "h2-faster"
  /** HTTP/3 is predicted to be faster, but by less than the margin: not offered. */
  | "within-margin"
  /** Drawn, not predicted. */
  | "exploration";

/** A decision and all that explains it. */
export interface Decision {
  readonly advertise: Advertise;
  readonly mode: Mode;
  readonly reason: Reason;
  /** Where loss and rate came from; absent where no path was looked at. */
  readonly basis?: Basis;
  readonly path?: PathFacts;
  readonly predicted?: PredictedTimes;
  /** The predicted saving of HTTP/3, stay / switch - 1 (over HTTP/3: stay / cold - 1). */
  readonly saving?: number;
  /** With what probability this policy offers (or withholds, as here) on these facts. */
  readonly propensity: number;
}

/**
 * Decides what to advertise on one response. Pure; never throws on data.
 *
 * @param request What is known of this request and its connection.
 * @param history What is remembered of this client and its network, or why nothing is.
 * @param nowMs Milliseconds since the epoch.
 * @param explorationUnit 0 to 1, uniform over clients, fixed for a client and period; undefined where none could be
 *   drawn: then nothing is explored.
 */
export function decide(
  request: RequestFacts,
  history: History,
  policy: Policy,
  nowMs: number,
  explorationUnit: number | undefined,
): Decision {
  const mode = modeFor(policy, request);
  switch (mode) {
    case "observe":
      return { advertise: { kind: "nothing" }, mode, reason: "mode-observe", propensity: 1 };
    case "fixed-h2":
      return { advertise: withhold(request, policy, mode, nowMs), mode, reason: "mode-fixed-h2", propensity: 1 };
    case "fixed-h3":
      return { advertise: { kind: "h3", maS: policy.ma.maxS }, mode, reason: "mode-fixed-h3", propensity: 1 };
    case "adaptive":
      return explore(decideAdaptive(request, history, policy, nowMs), request, policy, nowMs, explorationUnit);
  }
}

/**
 * Whether another rule of this policy may offer what is withheld here: Alt-Svc speaks for the whole origin, a rule for a
 * path, and offers of a fixed mode are not remembered per client.
 */
function offersElsewhere(policy: Policy, mode: Mode): boolean {
  return [policy.mode, ...policy.rules.map((rule) => rule.mode)].some(
    (other) => other !== mode && (other === "fixed-h3" || (other === "adaptive" && mode === "fixed-h2")),
  );
}

/** The mode for a request: that of the first rule that matches, else the policy's. */
export function modeFor(policy: Policy, request: Pick<RequestFacts, "path" | "asn" | "country">): Mode {
  for (const rule of policy.rules) {
    if (rule.pathPrefix !== undefined && !request.path.startsWith(rule.pathPrefix)) continue;
    if (rule.asn !== undefined && (request.asn === undefined || !rule.asn.includes(request.asn))) continue;
    if (rule.country !== undefined && (request.country === undefined || !rule.country.includes(request.country)))
      continue;
    return rule.mode;
  }
  return policy.mode;
}

function decideAdaptive(request: RequestFacts, history: History, policy: Policy, nowMs: number): Decision {
  const known = pathOf(request, history, policy.coldStart);
  const predicted = known === undefined ? undefined : predictTimes(policy.times, known.path);
  const onH3 = request.transport === "quic";
  // Over HTTP/3 the switch is paid for: what a session that begins there takes is what staying there takes.
  const saving =
    predicted === undefined ? Number.NaN : predicted.stayMs / (onH3 ? predicted.coldMs : predicted.switchMs) - 1;
  if (known === undefined || predicted === undefined || !Number.isFinite(saving)) {
    const advertise: Advertise =
      policy.coldStart.advertise === "h3"
        ? { kind: "h3", maS: policy.ma.minS }
        : withhold(request, policy, "adaptive", nowMs);
    return { advertise, mode: "adaptive", reason: "cold-start", propensity: 1 };
  }
  const offered = onH3 || (request.offering === true && offerMayLive(request, nowMs));
  const offer = saving > (offered ? policy.margin.leave : policy.margin.enter);
  // An offer made on this client's own evidence may live longer than one made on its neighbours' or on a prior.
  const maS = known.basis === "client" ? policy.ma.maxS : policy.ma.minS;
  return {
    advertise: offer ? { kind: "h3", maS } : withhold(request, policy, "adaptive", nowMs),
    mode: "adaptive",
    reason: offer ? "h3-faster" : saving > 0 ? "within-margin" : "h2-faster",
    basis: known.basis,
    path: known.path,
    predicted,
    saving,
    propensity: 1,
  };
}

/** Lets a share of clients draw their choice, half of them each way. */
function explore(
  predicted: Decision,
  request: RequestFacts,
  policy: Policy,
  nowMs: number,
  explorationUnit: number | undefined,
): Decision {
  const { share } = policy.exploration;
  if (share === 0 || explorationUnit === undefined) return predicted;
  const draws = explorationUnit < share;
  const predictedOffer = predicted.advertise.kind === "h3";
  const offer = draws ? explorationUnit < share / 2 : predictedOffer;
  const propensity = share / 2 + (offer === predictedOffer ? 1 - share : 0);
  if (!draws) return { ...predicted, propensity };
  const advertise: Advertise = offer
    ? { kind: "h3", maS: policy.ma.minS }
    : withhold(request, policy, "adaptive", nowMs);
  return { ...predicted, advertise, reason: "exploration", propensity };
}

/** Offers nothing, and takes back what the client may still hold: leaving the header out would take back nothing. */
function withhold(request: RequestFacts, policy: Policy, mode: Mode, nowMs: number): Advertise {
  const mayHold = request.transport === "quic" || offerMayLive(request, nowMs) || offersElsewhere(policy, mode);
  return { kind: mayHold ? "clear" : "nothing" };
}

function offerMayLive(request: RequestFacts, nowMs: number): boolean {
  return request.offerUntilMs !== undefined && request.offerUntilMs > nowMs;
}
