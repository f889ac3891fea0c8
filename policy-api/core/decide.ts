import type { KillSwitch } from "./activation.ts";
import type { Advertise } from "./alt-svc.ts";
import type { History, RequestFacts } from "./facts.ts";
import { type Basis, type KnownPath, pathOf, rttOf } from "./path.ts";
import type { Method, Mode, Policy, TimesMethod } from "./policy.ts";
import { type Prediction, predict, predictCold, type Saving } from "./saving.ts";
import type { PathFacts, PredictedTimes } from "./times.ts";
import { isBeyondZeroLine } from "./zero-lines.ts";

export const REASONS = [
  "mode-observe",
  "mode-fixed-h2",
  "mode-fixed-h3",
  /** The kill switch is on, whatever the policy says. */
  "kill-switch",
  /** Nothing is known of this client or its network: as the policy's cold start says. */
  "cold-start",
  /** The predicted saving is above the margin: offered. */
  "h3-faster",
  /** HTTP/2 is expected to be faster: not offered. */
  "h2-faster",
  /** HTTP/3 is expected to be faster, but not by the margin over the whole uncertainty: not offered. */
  "within-margin",
  /** This client was offered HTTP/3, saw it and did not come: most likely its network lets no UDP pass. */
  "udp-blocked",
  /** By the policy's share of clients. */
  "share",
  /** Drawn, not predicted. */
  "exploration",
] as const;
export type Reason = (typeof REASONS)[number];

/** A decision and all that explains it. */
export interface Decision {
  readonly advertise: Advertise;
  readonly mode: Mode;
  readonly reason: Reason;
  /** Where loss and rate came from; absent where no path was looked at. */
  readonly basis?: Basis;
  /** In the coordinates of the connection at hand, where it was measured in them. */
  readonly path?: PathFacts;
  readonly predicted?: PredictedTimes;
  /** The predicted saving of HTTP/3, stay / switch - 1 (over HTTP/3: stay / cold - 1), and its uncertainty. */
  readonly saving?: number;
  readonly savingLow?: number;
  readonly savingHigh?: number;
  /** With what probability this policy offers (or withholds, as here) on these facts. */
  readonly propensity: number;
}

type PredictedFigures = Required<Pick<Decision, "predicted" | "saving" | "savingLow" | "savingHigh">>;

/** Cold saving, certain, from which on an offer may live as long as the policy lets it: 25 %, what a lossy path gives. */
const WORTH_KEEPING = Math.log(1.25);
/** After a path changed, offers are short for so long: it may change again, milliseconds. */
const CHANGE_SETTLES_MS = 600_000;

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
 * Whether another rule, or another policy in force, may offer what is withheld here: Alt-Svc speaks for the whole origin, a
 * rule for a path, and offers of a fixed mode are not remembered per client.
 */
function offersElsewhere(policy: Policy, mode: Mode, modesElsewhere: readonly Mode[] | undefined): boolean {
  const offers = (other: Mode): boolean =>
    other !== mode && (other === "fixed-h3" || (other === "adaptive" && mode === "fixed-h2"));
  return offers(policy.mode) || policy.rules.some((rule) => offers(rule.mode)) || (modesElsewhere ?? []).some(offers);
}

/**
 * What the kill switch makes of every request. `fixed-h2`: nothing is offered, and what a client may hold is taken back.
 * `clear`: everything is taken back on every page, also where nothing should be held.
 */
export function decideKilled(killSwitch: KillSwitch, request: RequestFacts, nowMs: number): Decision {
  const mayHold = killSwitch === "clear" || holdsOffer(request, nowMs);
  const advertise: Advertise = { kind: mayHold ? "clear" : "nothing" };
  return { advertise, mode: "fixed-h2", reason: "kill-switch", propensity: 1 };
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
  const { method } = policy;
  if (isPaused(request, nowMs)) return verdict(false, "udp-blocked", request, policy, nowMs);
  // What parsePolicy lets through has a method; nothing is said without.
  if (method === undefined) return verdict(false, "cold-start", request, policy, nowMs);
  switch (method.kind) {
    case "share":
      return verdict(method.share >= 1 || (request.shareUnit ?? 1) < method.share, "share", request, policy, nowMs);
    case "rtt-threshold":
    case "zero-lines":
      return decideByLine(method, request, history, policy, nowMs);
    case "times": {
      const known = pathOf(request, history);
      if (known === undefined) return decideCold(method, request, history, policy, nowMs);
      const prediction = predict(method, known, contentBytesOf(policy, request), policy.margin.standardErrors);
      // Of broken figures nothing can be predicted, and nothing is offered: they are no unknown client.
      return prediction === undefined || Number.isNaN(savingOf(prediction, request).log)
        ? verdict(false, "cold-start", request, policy, nowMs)
        : decideKnown(known, prediction, request, policy, nowMs);
    }
  }
}

function decideKnown(
  known: KnownPath,
  prediction: Prediction,
  request: RequestFacts,
  policy: Policy,
  nowMs: number,
): Decision {
  const saving = savingOf(prediction, request);
  const offer = isOffered(request, nowMs)
    ? saving.log > Math.log1p(policy.margin.leave)
    : saving.log - saving.halfWidth > Math.log1p(policy.margin.enter);
  const reason = offer ? "h3-faster" : saving.log > 0 ? "within-margin" : "h2-faster";
  const { rttMs, lossRatio, deliveryRateBps } = known.paths[0] ?? { rttMs: 0, lossRatio: 0, deliveryRateBps: 0 };
  // Field by field: two objects spread into a third took a tenth of a decision.
  const told = figures(prediction, saving);
  const { advertise, mode, propensity } = verdict(
    offer,
    reason,
    request,
    policy,
    nowMs,
    maOf(prediction.cold, known, policy),
  );
  return {
    advertise,
    mode,
    reason,
    propensity,
    basis: known.basis,
    path: { rttMs, lossRatio, deliveryRateBps },
    predicted: told.predicted,
    saving: told.saving,
    savingLow: told.savingLow,
    savingHigh: told.savingHigh,
  };
}

/** For a client of whom only the RTT is known. There is nothing to be certain of: the expected saving speaks. */
function decideCold(
  method: TimesMethod,
  request: RequestFacts,
  history: History,
  policy: Policy,
  nowMs: number,
): Decision {
  const { coldStart, margin } = policy;
  const rttMs = rttOf(request, history);
  const prediction =
    rttMs === undefined
      ? undefined
      : predictCold(coldStart, method, rttMs, contentBytesOf(policy, request), margin.standardErrors);
  const saving = prediction === undefined ? undefined : savingOf(prediction, request);
  if (prediction === undefined || saving === undefined || Number.isNaN(saving.log))
    return verdict(coldStart.advertise === "h3", "cold-start", request, policy, nowMs);
  const threshold = Math.log1p(isOffered(request, nowMs) ? margin.leave : margin.enter);
  // Beyond the longest RTT that was measured what is expected says the less, the farther it is: there it has to be certain.
  const isBeyond = (rttMs ?? 0) > (coldStart.times?.rttMs.at(-1) ?? Number.POSITIVE_INFINITY);
  const expected = isBeyond ? saving.log - saving.halfWidth : saving.log;
  return {
    ...verdict(expected > threshold, "cold-start", request, policy, nowMs),
    basis: "prior",
    ...figures(prediction, saving),
  };
}

/** The methods that look at a path and predict no times. */
function decideByLine(
  method: Extract<Method, { kind: "rtt-threshold" | "zero-lines" }>,
  request: RequestFacts,
  history: History,
  policy: Policy,
  nowMs: number,
): Decision {
  const known = pathOf(request, history);
  const path = known?.paths[0];
  const rttMs = path?.rttMs ?? rttOf(request, history);
  if (rttMs === undefined || (method.kind === "zero-lines" && path === undefined))
    return verdict(policy.coldStart.advertise === "h3", "cold-start", request, policy, nowMs);
  const offer =
    method.kind === "rtt-threshold"
      ? rttMs >= method.rttMs
      : path !== undefined && isBeyondZeroLine(method.lines, path);
  const maS = known?.basis === "client" ? policy.ma.maxS : policy.ma.minS;
  return {
    ...verdict(offer, offer ? "h3-faster" : "h2-faster", request, policy, nowMs, maS),
    ...(known === undefined || path === undefined
      ? {}
      : {
          basis: known.basis,
          path: { rttMs, lossRatio: path.lossRatio, deliveryRateBps: path.deliveryRateBps },
        }),
  };
}

function verdict(
  offer: boolean,
  reason: Reason,
  request: RequestFacts,
  policy: Policy,
  nowMs: number,
  maS: number = policy.ma.minS,
): Decision {
  const advertise: Advertise = offer ? { kind: "h3", maS } : withhold(request, policy, "adaptive", nowMs);
  return { advertise, mode: "adaptive", reason, propensity: 1 };
}

function figures(prediction: Prediction, saving: Saving): PredictedFigures {
  return {
    predicted: prediction.times,
    saving: Math.expm1(saving.log),
    savingLow: Math.expm1(saving.log - saving.halfWidth),
    savingHigh: Math.expm1(saving.log + saving.halfWidth),
  };
}

/** Over HTTP/3 the switch is paid for: what a session that begins there takes is what staying there takes. */
function savingOf(prediction: Prediction, request: RequestFacts): Saving {
  return request.transport === "quic" ? prediction.cold : prediction.switch;
}

/** Whether this client stands on the side of the hysteresis where an offer ends. One that has run out begins anew. */
function isOffered(request: RequestFacts, nowMs: number): boolean {
  return request.transport === "quic" || (request.offering === true && offerMayLive(request, nowMs));
}

/** An offer lives the longer the more, and the more certainly, sessions gain that begin on HTTP/3. */
function maOf(cold: Saving, known: KnownPath, { ma }: Policy): number {
  const certain = cold.log - cold.halfWidth;
  if (!(certain > 0) || (known.changedMsAgo ?? Number.POSITIVE_INFINITY) < CHANGE_SETTLES_MS) return ma.minS;
  return Math.round(ma.minS * (ma.maxS / ma.minS) ** Math.min(1, certain / WORTH_KEEPING));
}

/** What a session that begins with this document transfers. */
function contentBytesOf({ contentBytes }: Policy, request: RequestFacts): number {
  for (const route of contentBytes.routes) if (request.path.startsWith(route.pathPrefix)) return route.bytes;
  return contentBytes.default;
}

/** Over HTTP/3 nothing is blocked. */
function isPaused(request: RequestFacts, nowMs: number): boolean {
  return request.transport === "tcp" && request.pausedUntilMs !== undefined && request.pausedUntilMs > nowMs;
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
  // A client that UDP does not reach would only tell that again.
  if (share === 0 || explorationUnit === undefined || predicted.reason === "udp-blocked") return predicted;
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
  const mayHold = holdsOffer(request, nowMs) || offersElsewhere(policy, mode, request.modesElsewhere);
  return { kind: mayHold ? "clear" : "nothing" };
}

/** Whether this client may hold an offer: its own, or one of an earlier activation, which were not all noted by client. */
function holdsOffer(request: RequestFacts, nowMs: number): boolean {
  const earlier = request.earlierOffersUntilMs !== undefined && request.earlierOffersUntilMs > nowMs;
  return request.transport === "quic" || earlier || offerMayLive(request, nowMs);
}

function offerMayLive(request: RequestFacts, nowMs: number): boolean {
  return request.offerUntilMs !== undefined && request.offerUntilMs > nowMs;
}
