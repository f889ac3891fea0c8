import { missingOf, type MissingReports, primaryOf } from "./assigned-pages.ts";
import { type Effect, effectOf } from "./effect.ts";
import { type Arms, CLIENTS_MIN, type Estimate, excludesZero, type Interval } from "./intervals.ts";
import { ratiosOf } from "./ratios.ts";
import { type SampleRatio, sampleRatioOf } from "./sample-ratio.ts";
import { clientsOf, type Outcome, type Sums, TIMES } from "./sums.ts";

/** What speaks for and against the grounds. */
export interface GroundsChecked {
  readonly sampleRatio: SampleRatio;
  /** The share of HTTP/3 on first pages of new clients that were not offered it. Undefined: too few reported. */
  readonly elsewhere: number | undefined;
  readonly objections: readonly Objection[];
}

export type Claim =
  | {
      readonly kind: "faster" | "slower";
      /** Of the gain. */
      readonly interval: Interval;
      /** Whether it could still be claimed if 5 % of each arm's clients lied as well as they can. */
      readonly withstandsLies: boolean;
    }
  | { readonly kind: "none"; readonly objections: readonly Objection[] };

/** What a cell, or all of them, say. */
export interface Comparison {
  /** Undefined while an arm has too few clients. */
  readonly effect: Effect | undefined;
  /** The primary outcome: the gain with the pages that did not report. Undefined for another outcome than the load. */
  readonly primary: Estimate | undefined;
  readonly missing: MissingReports | undefined;
  /** The gain's interval, widened by what missing reports can have done if the arms report differently. */
  readonly withMissing: Interval | undefined;
  readonly claim: Claim;
}

/**
 * Checks the draw, and whether something else offers HTTP/3. Pure.
 *
 * @param everyone Each client's whole row, over all cells (`EVERYWHERE`): to which cells a client comes may be an effect itself
 * @param newClients Of the first pages of new clients alone
 * @param expectedShare The share of those offered that the draw should give, among the clients of both arms
 */
export function checkGrounds(everyone: Arms<Sums>, newClients: Arms<Sums>, expectedShare: number): GroundsChecked {
  const objections: Objection[] = [];
  const sampleRatio = sampleRatioOf(clientsOf(everyone), expectedShare);
  const { share } = sampleRatio;
  if (sampleRatio.isUneven) objections.push({ kind: "sample-ratio", share, expectedShare });
  const fresh = newClients.withheld.load;
  const isKnown = fresh.clients >= BigInt(CLIENTS_MIN);
  const elsewhere = isKnown ? ratiosOf(fresh)?.means[TIMES.overH3] : undefined;
  if (elsewhere === undefined) objections.push({ kind: "too-few-new-clients", clients: Number(fresh.clients) });
  else if (elsewhere > ELSEWHERE_MAX) objections.push({ kind: "offered-elsewhere", share: elsewhere });
  return { sampleRatio, elsewhere, objections };
}

/**
 * Compares two arms in a cell or in all, and says whether an effect may be claimed: if the primary outcome shows it, and the
 * gain of reported pages shows the same whatever missing reports can have done. Pure.
 */
export function compare(grounds: GroundsChecked, arms: Arms<Sums>, outcome: Outcome = "load"): Comparison {
  const effect = effectOf(arms, outcome);
  const missing = missingOf(arms, outcome);
  const primary = outcome === "load" ? primaryOf(arms) : undefined;
  if (effect === undefined || missing === undefined) {
    const clients = clientsOf(arms, outcome);
    const claim = none(grounds, { kind: "too-few-clients", clients });
    return { effect, primary, missing, withMissing: undefined, claim };
  }
  const { gain, liesShift } = effect;
  // By how much missing reports can have moved the gain.
  const unsure = missing.differs ? missing.shift / (1 - effect.atBound) : 0;
  const interval = widened(gain, unsure);
  const found = { effect, primary, missing, withMissing: interval };
  const shown = primary ?? gain;
  if (!excludesZero(shown)) return { ...found, claim: none(grounds, notShown(shown)) };
  if (!excludesZero(interval) || shown.low > 0 !== interval.low > 0) {
    const objection: Objection = missing.differs
      ? { kind: "reports-differ", missing: missing.share, interval }
      : notShown(interval);
    return { ...found, claim: none(grounds, objection) };
  }
  if (grounds.objections.length > 0) return { ...found, claim: none(grounds) };
  const withstandsLies = excludesZero(widened(interval, liesShift));
  return { ...found, claim: { kind: gain.value > 0 ? "faster" : "slower", interval, withstandsLies } };
}

function none({ objections }: GroundsChecked, ...more: readonly Objection[]): Claim {
  return { kind: "none", objections: [...objections, ...more] };
}

function notShown({ low, high }: Interval): Objection {
  return { kind: "not-shown", interval: { low, high } };
}

function widened({ low, high }: Interval, by: number): Interval {
  return { low: low - by, high: high + by };
}

/** Why no effect may be claimed. */
export type Objection =
  /** An arm has too few clients for an interval. */
  | { readonly kind: "too-few-clients"; readonly clients: Arms<number> }
  /** The arms do not have the numbers of clients that their shares let expect: who is counted depends on the arm. */
  | { readonly kind: "sample-ratio"; readonly share: number; readonly expectedShare: number }
  /** Too few new clients reported to tell whether something else offers HTTP/3. */
  | { readonly kind: "too-few-new-clients"; readonly clients: number }
  /** New clients that were not offered HTTP/3 use it: something else offers it. */
  | { readonly kind: "offered-elsewhere"; readonly share: number }
  /** The interval holds 0. */
  | { readonly kind: "not-shown"; readonly interval: Interval }
  /** One arm's pages report less often, and the pages that are missing could have made the effect. */
  | { readonly kind: "reports-differ"; readonly missing: Arms<number>; readonly interval: Interval };

export const OBJECTIONS = [
  "too-few-clients",
  "sample-ratio",
  "too-few-new-clients",
  "offered-elsewhere",
  "not-shown",
  "reports-differ",
] as const satisfies readonly Objection["kind"][];

/** Above this share of HTTP/3 on withheld clients' first pages, something else offers it. */
export const ELSEWHERE_MAX = 0.05;

/** An objection as a sentence. */
export function objectionText(objection: Objection): string {
  switch (objection.kind) {
    case "too-few-clients": {
      const { offered, withheld } = objection.clients;
      return `There are ${offered} clients that were offered HTTP/3 and ${withheld} that were not; each arm needs ${CLIENTS_MIN} whose pages reported.`;
    }
    case "sample-ratio":
      return `${percent(objection.share)} of the clients were offered HTTP/3, where ${percent(objection.expectedShare)} were to be: whether a client is counted depends on its arm.`;
    case "too-few-new-clients":
      return `${objection.clients} new clients that were not offered HTTP/3 have reported; it takes ${CLIENTS_MIN} to tell whether something else offers it.`;
    case "offered-elsewhere":
      return `${percent(objection.share)} of the first pages of new clients that were not offered HTTP/3 came over it (more than ${percent(ELSEWHERE_MAX)}): something else offers it.`;
    case "not-shown":
      return `The interval holds 0: ${intervalText(objection.interval)}.`;
    case "reports-differ": {
      const { offered, withheld } = objection.missing;
      return `Of those offered ${percent(offered)} of the pages did not report, of the others ${percent(withheld)}. With what is missing the interval holds 0: ${intervalText(objection.interval)}.`;
    }
  }
}

function intervalText({ low, high }: Interval): string {
  return `${low.toFixed(3)} to ${high.toFixed(3)}`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
