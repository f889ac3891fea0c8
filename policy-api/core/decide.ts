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
  /** Nothing is known of this client on any level: as the policy's cold start says. */
  "cold-start",
  /** The predicted saving is above the margin: offered. */
  "h3-faster",
  /** HTTP/2 is expected to be faster: not offered. */
  "h2-faster",
  /** HTTP/3 is expected to be faster, but too little or not certainly: not offered. */
  "within-margin",
  /** This client ignored its offers: most likely its network blocks UDP. */
  "udp-blocked",
  /** By the policy's share of clients. */
  "share",
  /** Drawn, not predicted. */
  "exploration",
] as const;
export type Reason = (typeof REASONS)[number];

/** A decision and everything that explains it. */
export interface Decision {
  readonly advertise: Advertise;
  readonly mode: Mode;
  readonly reason: Reason;
  /** Which level the loss came from. Absent if no path was looked at. */
  readonly basis?: Basis;
  /** As the transport of this connection measured it, if it did. */
  readonly path?: PathFacts;
  readonly predicted?: PredictedTimes;
  /**
   * The predicted saving of HTTP/3, stay / switch - 1 (on a request over HTTP/3: stay / cold - 1), and its uncertainty.
   */
  readonly saving?: number;
  readonly savingLow?: number;
  readonly savingHigh?: number;
  /** The probability of this answer, given these facts and this policy. */
  readonly propensity: number;
}

type PredictedFigures = Required<Pick<Decision, "predicted" | "saving" | "savingLow" | "savingHigh">>;

/** Certain saving of a cold session at which an offer gets the longest life: 25 %, as on a path with loss. */
const WORTH_KEEPING = Math.log(1.25);
/** After a path has changed, offers are short for this long, as it may change again, milliseconds. */
const CHANGE_SETTLES_MS = 600_000;

/**
 * Decides what to advertise on one response. Pure; never throws on data.
 *
 * @param nowMs Milliseconds since the epoch.
 * @param explorationUnit 0 to 1, uniform over clients, constant for a client during a period. Undefined: do not
 *   explore.
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
 * Whether another rule, or another policy in force, may offer what is withheld here. An Alt-Svc counts for the whole
 * origin and a rule for one path, and offers of a fixed mode are not remembered.
 */
function offersElsewhere(policy: Policy, mode: Mode, modesElsewhere: readonly Mode[] | undefined): boolean {
  const offers = (other: Mode): boolean =>
    other !== mode && (other === "fixed-h3" || (other === "adaptive" && mode === "fixed-h2"));
  return offers(policy.mode) || policy.rules.some((rule) => offers(rule.mode)) || (modesElsewhere ?? []).some(offers);
}

/**
 * The decision under the kill switch. `fixed-h2`: nothing is offered, and a client that may hold an offer gets a
 * `clear`. `clear`: every page gets a `clear`.
 */
export function decideKilled(killSwitch: KillSwitch, request: RequestFacts, nowMs: number): Decision {
  const mayHold = killSwitch === "clear" || holdsOffer(request, nowMs);
  const advertise: Advertise = { kind: mayHold ? "clear" : "nothing" };
  return { advertise, mode: "fixed-h2", reason: "kill-switch", propensity: 1 };
}

/** The mode for a request: that of the first rule that matches, else that of the policy. */
export function modeFor(policy: Policy, request: RequestFacts): Mode {
  for (const rule of policy.rules) {
    const isOnPath = rule.pathPrefix === undefined || request.path.startsWith(rule.pathPrefix);
    if (isOnPath && isAmong(rule.asn, request.asn) && isAmong(rule.country, request.country)) return rule.mode;
  }
  return policy.mode;
}

/**
 * Whether a rule's condition holds: it gives no values, or gives this one. A value that is not known is not among them.
 */
function isAmong<T>(values: readonly T[] | undefined, value: T | undefined): boolean {
  return values === undefined || (value !== undefined && values.includes(value));
}

function decideAdaptive(request: RequestFacts, history: History, policy: Policy, nowMs: number): Decision {
  const { method } = policy;
  if (isPaused(request, nowMs)) return verdict(false, "udp-blocked", request, policy, nowMs);
  // parsePolicy refuses an adaptive policy without a method.
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
      // Nothing can be predicted from broken figures, so nothing is offered. decideCold is for unknown clients only.
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
  // Field by field: spreading two objects into a third took a tenth of a decision.
  const { predicted, saving: ratio, savingLow, savingHigh } = figures(prediction, saving);
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
    predicted,
    saving: ratio,
    savingLow,
    savingHigh,
  };
}

/** For a client of which only the RTT is known. Nothing can be certain here, so the expected saving decides. */
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
  // Beyond the longest measured RTT the expected saving says less: there it has to be certain.
  const isBeyond = (rttMs ?? 0) > (coldStart.times?.rttMs.at(-1) ?? Number.POSITIVE_INFINITY);
  const expected = isBeyond ? saving.log - saving.halfWidth : saving.log;
  return {
    ...verdict(expected > threshold, "cold-start", request, policy, nowMs),
    basis: "prior",
    ...figures(prediction, saving),
  };
}

/** The methods that look at a path without predicting times. */
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

/** A request over HTTP/3 has already paid for the switch: staying takes as long as a session that begins on HTTP/3. */
function savingOf(prediction: Prediction, request: RequestFacts): Saving {
  return request.transport === "quic" ? prediction.cold : prediction.switch;
}

/** Whether this client has an offer that is alive: then `leave` is its threshold, else `enter`. */
function isOffered(request: RequestFacts, nowMs: number): boolean {
  return request.transport === "quic" || (request.offering === true && offerMayLive(request, nowMs));
}

/** An offer lives longer if sessions that begin on HTTP/3 save more, and more certainly. */
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

/** A request over HTTP/3 shows that UDP is not blocked. */
function isPaused(request: RequestFacts, nowMs: number): boolean {
  return request.transport === "tcp" && request.pausedUntilMs !== undefined && request.pausedUntilMs > nowMs;
}

/** Lets a share of clients draw their answer: half of them are offered HTTP/3, half are not. */
function explore(
  predicted: Decision,
  request: RequestFacts,
  policy: Policy,
  nowMs: number,
  explorationUnit: number | undefined,
): Decision {
  const { share } = policy.exploration;
  // Where UDP is blocked, a draw shows only that.
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

/** Offers nothing, and takes back what the client may still hold: a response without the header would not. */
function withhold(request: RequestFacts, policy: Policy, mode: Mode, nowMs: number): Advertise {
  const mayHold = holdsOffer(request, nowMs) || offersElsewhere(policy, mode, request.modesElsewhere);
  return { kind: mayHold ? "clear" : "nothing" };
}

/** Whether this client may hold an offer: one that is remembered, or any of an earlier activation. */
function holdsOffer(request: RequestFacts, nowMs: number): boolean {
  const earlier = request.earlierOffersUntilMs !== undefined && request.earlierOffersUntilMs > nowMs;
  return request.transport === "quic" || earlier || offerMayLive(request, nowMs);
}

function offerMayLive(request: RequestFacts, nowMs: number): boolean {
  return request.offerUntilMs !== undefined && request.offerUntilMs > nowMs;
}
