import { type Arms, type Estimate, type Interval, ofEach } from "./arms.ts";
import { CLIENTS_MIN } from "./confidence-sequence.ts";
import { TIMES } from "./contribution.ts";
import { type Effect, effectOf } from "./effect.ts";
import { type MissingReports, missingOf } from "./missing-reports.ts";
import { ELSEWHERE_MAX, type Objection } from "./objections.ts";
import { primaryOf } from "./primary.ts";
import { ratiosOf } from "./ratios.ts";
import { type SampleRatio, sampleRatioOf } from "./sample-ratio.ts";
import type { Outcome, Sums } from "./sums.ts";

/** What a comparison rests on, whichever cell is looked at. */
export interface Grounds {
  /** Each client's whole row, over all cells (`EVERYWHERE`): to which cells a client comes may be an effect itself. */
  readonly everyone: Arms<Sums>;
  /** Of the first pages of new clients alone. */
  readonly newClients: Arms<Sums>;
  /** The share of those offered that the draw should give, among the clients of both arms. */
  readonly expectedShare: number;
}

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
  /** The effect's intervals, widened by what missing reports can have done if the arms report differently. */
  readonly withMissing: { readonly gain: Interval; readonly local: Interval | undefined } | undefined;
  readonly claim: Claim;
}

/** Checks the draw, and whether something else offers HTTP/3. Pure. */
export function checkGrounds({ everyone, newClients, expectedShare }: Grounds): GroundsChecked {
  const objections: Objection[] = [];
  const sampleRatio = sampleRatioOf(
    ofEach(everyone, ({ assigned }) => Number(assigned.clients)),
    expectedShare,
  );
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
    const clients = ofEach(arms, (sums) => Number(sums[outcome].clients));
    const claim = none(grounds, { kind: "too-few-clients", clients });
    return { effect, primary, missing, withMissing: undefined, claim };
  }
  const { gain, local, compliance, liesShift } = effect;
  const unsure = unsureBy(effect, missing);
  const interval = widened(gain, unsure);
  const withMissing = { gain: interval, local: local && widened(local, unsure / compliance.value) };
  const found = { effect, primary, missing, withMissing };
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

/** By how much missing reports can have moved the gain, if the arms report differently; else 0. */
export function unsureBy({ atBound }: Effect, missing: MissingReports | undefined): number {
  return missing?.differs === true ? missing.shift / (1 - atBound) : 0;
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

function excludesZero({ low, high }: Interval): boolean {
  return low > 0 || high < 0;
}
