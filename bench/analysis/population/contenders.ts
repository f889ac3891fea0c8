import { decide } from "../../../policy-api/decision/decide.ts";
import { INITIAL_POLICY, type Policy, type ZeroLine } from "../../../policy-api/decision/policy.ts";
import { pagesAhead, returnsWithin, VISIT_GAP_MS } from "../../../policy-api/decision/visit.ts";
import { NEXT_PAGES } from "../senders/places.ts";
import type { Situation, Contender, Playing } from "./play.ts";
import type { Congestion } from "../../model/congestion.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";
import { mean } from "../statistics/summary.ts";

/** What CDNs offer. */
export const DAY_S = 86_400;

export const never: Contender = () => 0;
export const always: Contender = () => DAY_S;

/** A policy of this project, by the decision that the worker makes. */
export function byPolicy(policy: Policy): Contender {
  // One for each size: decide() prepares a policy once.
  const ofSize = new Map<number, Policy>();
  return ({ history, nowMs, transport, rttMs, contentBytes, offerUntilMs, answeredAtMs }) => {
    const offering = offerUntilMs > nowMs;
    const request = { transport, rttMs, path: "/", offerUntilMs, offering, answeredAtMs };
    const withContent = ofSize.get(contentBytes) ?? { ...policy, contentBytes: { default: contentBytes, routes: [] } };
    ofSize.set(contentBytes, withContent);
    const { advertise } = decide(request, history, withContent, nowMs, undefined);
    return advertise.kind === "h3" ? advertise.maS : 0;
  };
}

/** The same, told for which clients an offer should end before they come back over another path. */
export function toldOfMoves(policy: Policy): Contender {
  const decides = byPolicy(policy);
  return (asked) => (asked.movesNext ? Math.min(decides(asked), policy.ma.minS) : decides(asked));
}

/** The published method, which begins on HTTP/3 with whom it does not know. */
export function publishedPolicy(line: ZeroLine): Policy {
  return { ...INITIAL_POLICY, mode: "adaptive", method: { kind: "zero-lines", lines: [line], unknown: "h3" } };
}

/** FlexHTTP's published forest, read out between its thresholds: the probability that HTTP/3 is faster. */
export interface Forest {
  readonly axes: {
    readonly rttMsThresholds: readonly number[];
    readonly lossPercentThresholds: readonly number[];
    readonly rateMbitPerSThresholds: readonly number[];
  };
  readonly probabilityHttp3: readonly (readonly (readonly number[])[])[];
}

/** The forest asks for a loss and a rate: of a client that was not measured it is told none, and an access line's. */
export function flexHttp({ axes, probabilityHttp3 }: Forest): Contender {
  const region = (thresholds: readonly number[], value: number): number =>
    thresholds.filter((threshold) => value > threshold).length;
  return ({ rttMs, history: { connections = [] } }) => {
    const packets = connections.reduce((sum, one) => sum + one.packets, 0);
    const lost = connections.reduce((sum, one) => sum + one.lost, 0);
    const rate = Math.max(0, ...connections.map(({ deliveryRateBps = 0 }) => deliveryRateBps)) || 3_125_000;
    const at = [
      region(axes.rttMsThresholds, rttMs),
      region(axes.lossPercentThresholds, packets > 0 ? (100 * lost) / packets : 0),
      region(axes.rateMbitPerSThresholds, (rate * 8) / 1e6),
    ] as const;
    return (probabilityHttp3[at[0]]?.[at[1]]?.[at[2]] ?? 0) > 0.5 ? DAY_S : 0;
  };
}

/** The better of never and always for each client, by times of the other half of its loads. */
export function clairvoyant({ times }: Pick<Playing, "times">): Contender {
  return ({ client }) => {
    const own = times[client];
    if (own === undefined) return 0;
    return nextGain(own) > 0 ? DAY_S : 0;
  };
}

/** ln(HTTP/2's time / HTTP/3's) of a next page, by the kinds of them that a visit has. */
export function nextGain({ h2, h3 }: Playing["times"][number]): number {
  const { opened, later, reopened } = NEXT_PAGES;
  const quic = opened * Math.log(h3.openedMs) + later * Math.log(h3.laterMs) + reopened * Math.log(h3.firstMs);
  return Math.log(h2.laterMs) - quic;
}

const RTT_DEVIATION = 0.2;
const BYTES_DEVIATION = 0.7;
const FLOOR = 0.0002;

/**
 * The best policy with the same sight: it knows every other client of the population with its true loss and its measured
 * gains, and weighs them by how well they fit what is seen of this one. It obeys the same bounds of `ma`.
 */
export function sameSight({ clients, times }: Playing, policy: Policy): Contender {
  const ahead = pagesAhead(policy.visit);
  return (asked) => {
    const weights = clients.map((other, i) =>
      i === asked.client ? 0 : Math.exp(logLikelihood(other.rttMs, other.bytes, other.lossRatio, asked)),
    );
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const expected = (gain: (own: Playing["times"][number]) => number): number =>
      weights.reduce((sum, weight, i) => {
        const own = times[i];
        return own === undefined ? sum : sum + (weight / total) * gain(own);
      }, 0);
    const next = expected(({ h2, h3 }) => Math.log(h2.laterMs) - (Math.log(h3.openedMs) + Math.log(h3.laterMs)) / 2);
    const again = expected(({ h2, h3 }) => Math.log(h2.firstMs / h3.firstMs));
    const isLater = asked.nowMs - asked.answeredAtMs < VISIT_GAP_MS;
    const pages = isLater ? ahead.later : ahead.first;
    const maS = again > 0 ? policy.ma.maxS : policy.ma.minS;
    return pages * next + returnsWithin(policy.visit, maS) * again > 0 ? maS : 0;
  };
}

function logLikelihood(rttMs: number, bytes: number, lossRatio: number, asked: Situation): number {
  const squares =
    (Math.log(rttMs / asked.rttMs) / RTT_DEVIATION) ** 2 +
    (Math.log(bytes / asked.contentBytes) / BYTES_DEVIATION) ** 2;
  const loss = Math.max(lossRatio, FLOOR);
  let evidence = 0;
  for (const { packets, lost } of asked.history.connections ?? [])
    evidence += lost * Math.log(loss) + (packets - lost) * Math.log1p(-loss);
  return evidence - squares / 2;
}

/** The one rate of the published method. */
const RATE_MBPS = 200;
/** Never: above every loss there is. */
const NEVER = 2;

/**
 * The published method on our grid: at one rate and over configured loss, the loss at each delay from which on HTTP/3
 * downloads faster, between the last loss where it did not and the next.
 */
export function publishedZeroLine(rows: readonly LoadRow[], congestion: Congestion, rateMbps = RATE_MBPS): ZeroLine {
  const own = rows.filter(
    (row) => row.congestion === congestion && row.rateMbps === rateMbps && row.flow === "download" && counts(row),
  );
  const delays = [...new Set(own.map(({ delayMs }) => delayMs))].sort((a, b) => a - b);
  return {
    deliveryRateBps: (rateMbps * 1e6) / 8,
    rttMs: delays.map((delayMs) => 2 * delayMs),
    lossRatio: delays.map((delayMs) => lossFrom(own.filter((row) => row.delayMs === delayMs))),
  };
}

function lossFrom(rows: readonly LoadRow[]): number {
  const losses = [...new Set(rows.map(({ lossRatio }) => lossRatio))].sort((a, b) => a - b);
  const gains = losses.map((lossRatio) => {
    const of = (arm: LoadRow["arm"]): number =>
      mean(rows.filter((row) => row.arm === arm && row.lossRatio === lossRatio).flatMap(({ loadMs }) => loadMs ?? []));
    return of("fixed-h2") / of("fixed-h3") - 1;
  });
  const last = gains.findLastIndex((gain) => !(gain > 0));
  if (last === -1) return 0;
  const [below, above] = [losses[last], losses[last + 1]];
  const [loses, wins] = [gains[last], gains[last + 1]];
  if (below === undefined || above === undefined || loses === undefined || wins === undefined) return NEVER;
  return below + ((above - below) * -loses) / (wins - loses);
}
