import type { KillSwitch } from "./activation.ts";
import type { Advertise } from "./alt-svc.ts";
import type { DrawnArm } from "./assignment.ts";
import type { History, RequestFacts } from "./facts.ts";
import type { GainsMethod, Method, Mode, Policy } from "./policy.ts";
import { prepareGains, type PreparedGains, type Worth, worthOf } from "./value.ts";
import { VISIT_GAP_MS } from "./visit.ts";
import { isBeyondZeroLine } from "./zero-lines.ts";

export const REASONS = [
  "mode-observe",
  "mode-fixed-h2",
  "mode-fixed-h3",
  /** The kill switch is on, whatever the policy says. */
  "kill-switch",
  /** The method needs what nobody has measured: an RTT, or for zero lines a loss. */
  "not-measured",
  /** HTTP/3 is expected to be faster, by more than the margin: offered. */
  "h3-faster",
  /** HTTP/2 is expected to be faster: not offered. */
  "h2-faster",
  /** The margin decides. HTTP/3 is expected to be faster, but by too little: not offered. Or HTTP/2 is, but by too little: offered. */
  "within-margin",
  /** The network drops packets of QUIC alone: not offered. */
  "quic-loses",
  /** This client's own pages were slower over HTTP/3 than the policy says: not offered. */
  "own-loads-slower",
  /** This client ignored its offers: most likely its network blocks UDP. */
  "udp-blocked",
  /** By the policy's share of clients. */
  "share",
  /** Drawn, not predicted. */
  "exploration",
] as const;
export type Reason = (typeof REASONS)[number];

/** A decision and everything that explains it: where a gain table decided, what the offer is worth. */
export interface Decision extends Partial<Worth> {
  readonly advertise: Advertise;
  readonly mode: Mode;
  readonly reason: Reason;
  /** What the gain table was read at, milliseconds and bytes. */
  readonly rttMs?: number;
  readonly contentBytes?: number;
  /** The probability of this answer, given these facts and this policy. */
  readonly propensity: number;
}

/** What a decision is made on. */
interface DecisionInput {
  readonly request: RequestFacts;
  readonly history: History;
  readonly policy: Policy;
  readonly nowMs: number;
  /** The probability of the method's answer. */
  readonly propensity: number;
}

/** A decision does not believe a longer RTT, milliseconds. */
const RTT_BELIEVED_MS = 60_000;

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
  const { share } = policy.exploration;
  const isExploring = share > 0 && explorationUnit !== undefined;
  const drawn = isExploring ? drawnArm(policy, explorationUnit) : undefined;
  const propensity = isExploring ? share / 2 + (1 - share) : 1;
  const input = { request, history, policy, nowMs, propensity };
  const mode = modeFor(policy, request);
  switch (mode) {
    case "observe":
      return { advertise: { kind: "nothing" }, mode, reason: "mode-observe", propensity: 1 };
    case "fixed-h2":
      return { advertise: withhold(input, mode), mode, reason: "mode-fixed-h2", propensity: 1 };
    case "fixed-h3":
      return { advertise: { kind: "h3", maS: policy.ma.maxS }, mode, reason: "mode-fixed-h3", propensity: 1 };
    case "adaptive":
      return explore(input, decideAdaptive(input), drawn);
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
  const mayHold = killSwitch === "clear" || holdsOffer({ request, nowMs });
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

function decideAdaptive(input: DecisionInput): Decision {
  const { request, policy } = input;
  const { method } = policy;
  // Where UDP is blocked, a draw shows only that.
  if (isPaused(input)) return { ...verdict(input, false, "udp-blocked"), propensity: 1 };
  // parsePolicy refuses an adaptive policy without a method.
  if (method === undefined) return verdict(input, undefined, "not-measured");
  if (method.kind === "share") return verdict(input, isInShare(request.shareUnit, method.share), "share");
  const rttMs = rttOf(input);
  if (rttMs === undefined) return verdict(input, undefined, "not-measured");
  return method.kind === "gains" ? decideByGains(input, method, rttMs) : decideByLine(input, method, rttMs);
}

function decideByGains(input: DecisionInput, method: GainsMethod, rttMs: number): Decision {
  const { request, history, policy, nowMs } = input;
  const contentBytes = contentBytesOf(policy, request);
  const isOffered = request.transport === "quic" || (request.offering === true && offerMayLive(input));
  const isLater = nowMs - (request.answeredAtMs ?? Number.NEGATIVE_INFINITY) < VISIT_GAP_MS;
  const { minRttMs, deliveryRateBps } = request;
  const visiting = { rttMs, minRttMs, contentBytes, deliveryRateBps, isLater, paysPrice: !isOffered };
  const [worth, maS] = worthOf(preparedOf(policy, method), history, visiting);
  // What cannot be reckoned (NaN) is no gain.
  const offer = worth.saving.gain > (isOffered ? policy.margin.leave : policy.margin.enter);
  // Nothing is taken back before the client's own evidence is there, or while HTTP/3 is expected to be the faster one.
  const speaksForH2 = history.state !== "late" && worth.saving.gain < 0;
  const answer = offer || (speaksForH2 ? false : undefined);
  const { advertise, mode, reason, propensity } = verdict(input, answer, reasonOf(offer, worth), maS);
  const { lossRatio, next, price, ceiling, ownShift, pages, returns, saving } = worth;
  // Not spread: that takes as long as the rest of a decision.
  return {
    advertise,
    mode,
    reason,
    propensity,
    rttMs,
    contentBytes,
    lossRatio,
    quicAlone: worth.quicAlone,
    next,
    return: worth.return,
    price,
    ceiling,
    ownShift,
    pages,
    returns,
    saving,
  };
}

/**
 * By policy: callers decide many times by one, and hold it alone. A policy does not change. To prepare one takes 20 to 35 microseconds, a
 * decision 0.5 about a client nobody knows and 1.5 about one with eight connections, and to find what was prepared 0.01 to 0.02 (Node 24,
 * policies/cubic.json, in a loop; at times all of it takes twice as long on a shared machine).
 */
const prepared = new WeakMap<Policy, PreparedGains>();

function preparedOf(policy: Policy, method: GainsMethod): PreparedGains {
  let found = prepared.get(policy);
  if (found === undefined) prepared.set(policy, (found = prepareGains(method, policy)));
  return found;
}

/** Undefined where nobody knows. */
function isInShare(unit: number | undefined, share: number): boolean | undefined {
  if (share <= 0 || share >= 1) return share >= 1;
  return unit === undefined ? undefined : unit < share;
}

function reasonOf(offer: boolean, { quicAlone, ownShift, saving }: Worth): Reason {
  // A margin below 0 also offers what is expected to lose a little.
  if (offer) return saving.gain > 0 ? "h3-faster" : "within-margin";
  if (quicAlone > 0.5) return "quic-loses";
  if (ownShift < 0 && saving.gain - ownShift > 0 && saving.gain < 0) return "own-loads-slower";
  return saving.gain > 0 ? "within-margin" : "h2-faster";
}

/** The RTT of this connection. If it has none yet, that of the client's newest one that has. */
function rttOf({ request, history }: DecisionInput): number | undefined {
  return believed(request.rttMs) ?? believed(history.connections?.find(({ rttMs }) => believed(rttMs))?.rttMs);
}

/** Platforms give 0 for what they do not know. NaN, negative numbers and more than a minute are faults. */
function believed(rttMs: number | undefined): number | undefined {
  return rttMs !== undefined && rttMs > 0 && rttMs <= RTT_BELIEVED_MS ? rttMs : undefined;
}

/** The methods that look at a path without a gain table. */
function decideByLine(
  input: DecisionInput,
  method: Extract<Method, { kind: "rtt-threshold" | "zero-lines" }>,
  rttMs: number,
): Decision {
  const { request, history } = input;
  const isBeyond =
    method.kind === "rtt-threshold" ? rttMs >= method.rttMs : isBeyondZeroLine(method, request, history, rttMs);
  const unknown = method.kind === "zero-lines" && method.unknown === "h3" ? true : undefined;
  const reason = isBeyond === undefined ? "not-measured" : isBeyond ? "h3-faster" : "h2-faster";
  return { ...verdict(input, isBeyond ?? unknown, reason), rttMs };
}

/** @param offer Undefined: nothing is known for HTTP/3 nor against it. Then an offer that may live is left as it is. */
function verdict(
  input: DecisionInput,
  offer: boolean | undefined,
  reason: Reason,
  maS = input.policy.ma.minS,
): Decision {
  const advertise: Advertise =
    offer === undefined ? { kind: "nothing" } : offer ? { kind: "h3", maS } : withhold(input, "adaptive");
  return { advertise, mode: "adaptive", reason, propensity: input.propensity };
}

/** What a session that begins with this document transfers. */
export function contentBytesOf({ contentBytes }: Policy, request: RequestFacts): number {
  for (const route of contentBytes.routes) if (request.path.startsWith(route.pathPrefix)) return route.bytes;
  return contentBytes.default;
}

/** A request over HTTP/3 shows that UDP is not blocked. */
function isPaused({ request, nowMs }: DecisionInput): boolean {
  return request.transport === "tcp" && request.pausedUntilMs !== undefined && request.pausedUntilMs > nowMs;
}

/**
 * What a client's draw says: to offer to it, or not. Undefined: it is not among those that draw. The draw holds also where
 * nothing may be offered for another reason: outcomes are compared by what was drawn.
 */
export function drawnArm({ exploration: { share } }: Policy, unit: number | undefined): DrawnArm | undefined {
  if (unit === undefined) return undefined;
  // From both ends: if the share changes within a period, clients join the draw or leave it, and none goes from one arm to the other.
  if (unit < share / 2) return "offer";
  return unit >= 1 - share / 2 ? "withhold" : undefined;
}

/**
 * Lets a share of clients draw their answer: half of them are offered HTTP/3, half are not. A drawn offer lives as long as the
 * longest of the policy's own: arms are compared with returns, and a shorter one would miss those.
 */
function explore(input: DecisionInput, predicted: Decision, drawn: DrawnArm | undefined): Decision {
  const { policy } = input;
  if (drawn === undefined || predicted.reason === "udp-blocked") return predicted;
  const { share } = policy.exploration;
  const offer = drawn === "offer";
  const advertise: Advertise = offer ? { kind: "h3", maS: policy.ma.maxS } : withhold(input, "adaptive");
  const propensity = share / 2 + (offer === (predicted.advertise.kind === "h3") ? 1 - share : 0);
  return { ...predicted, advertise, reason: "exploration", propensity };
}

/** Offers nothing, and takes back what the client may still hold: a response without the header would not. */
function withhold(input: DecisionInput, mode: Mode): Advertise {
  const { policy, request } = input;
  const mayHold = holdsOffer(input) || offersElsewhere(policy, mode, request.modesElsewhere);
  return { kind: mayHold ? "clear" : "nothing" };
}

/** Whether this client may hold an offer: one that is remembered, or any of an earlier activation. */
function holdsOffer(input: Pick<DecisionInput, "request" | "nowMs">): boolean {
  const { transport, earlierOffersUntilMs = 0 } = input.request;
  return transport === "quic" || earlierOffersUntilMs > input.nowMs || offerMayLive(input);
}

function offerMayLive({ request, nowMs }: Pick<DecisionInput, "request" | "nowMs">): boolean {
  return request.offerUntilMs !== undefined && request.offerUntilMs > nowMs;
}

/**
 * One decision in the log: its inputs, the policy's version, and the result. No address and no URL. `POST explain` can
 * make it again.
 */
export interface DecisionLine {
  readonly event: "decision";
  /** The first characters of the client's keyed hash. */
  readonly client: string;
  readonly httpProtocol: string;
  readonly policyVersion: number;
  readonly request: Omit<RequestFacts, "path">;
  readonly history: History;
  readonly decision: Decision;
}
