import type { GainTable } from "../decision/gain-table.ts";
import type { Policy } from "../decision/policy.ts";
import type { Stack } from "../decision/stack.ts";
import { stayingOf } from "./assigned-pages.ts";
import { SCALE } from "./client-day.ts";
import {
  checkGrounds,
  compare,
  type Comparison,
  type GroundsChecked,
  type Objection,
  objectionText,
} from "./compare.ts";
import { type PeriodSums, stackChangeOf, useChangeOf } from "./effect-changes.ts";
import type { Gathered, OutcomeSums } from "./gathered.ts";
import { harmOf } from "./harm.ts";
import { type Arms, hasEnough, ofEach } from "./intervals.ts";
import type { CellEvidence } from "./learn.ts";
import type { Learning } from "./propose.ts";
import { quantileOf } from "./quantiles.ts";
import { ratiosOf } from "./ratios.ts";
import {
  type Cell,
  EVERYWHERE,
  parseAsnKey,
  parseCellKey,
  parseCountryKey,
  parsePeriodKey,
  RTT_CLASS_MS,
  rttKey,
} from "./row-keys.ts";
import { sampleRatioOf } from "./sample-ratio.ts";
import { harmText, isoTime, savedBy, sentenceOf, stackChangeText, useChangeText } from "./sentence.ts";
import { ASSIGNED, clientsOf, mergeArms, type Outcome, type Sums, TIMES } from "./sums.ts";

/** How many objects of the store were asked, and how many of them answered. */
export interface Objects {
  readonly asked: number;
  readonly answered: number;
}

/** Some of the clients: what they add up to, and what that says. */
type Slice = ReturnType<typeof compared>;

/** The draw gives each arm half of the clients. */
const EXPECTED_SHARE = 0.5;

/** How many autonomous systems are shown, and how many countries. */
const PLACES_MAX = 100;

/** What the clients of one version say, as the API shows it (contract/results.ts). What is not known is undefined. Pure. */
export function resultsOf(gathered: Gathered, policy: Policy | undefined, objects: Objects) {
  const grounds = groundsOf(gathered);
  const slice = (key: string): Slice => sliceOf(gathered.of(key), grounds);
  const everyone = compared(gathered.of(EVERYWHERE), grounds);
  const classes = Array.from({ length: RTT_CLASS_MS.length + 1 }, (_, rttClass) => slice(rttKey(rttClass)));
  const sumsOfClasses = classes.map(({ arms }) => sumsOf(arms));
  const { harm, isHarmComparable = false } = (policy && harmOf(policy, sumsOfClasses, grounds)) ?? {};
  const periods = periodSumsOf(gathered);
  const [stackChange, useChange] = [stackChangeOf(periods, grounds), useChangeOf(periods, grounds)];
  const change = stackChange && { since: isoTime(stackChange.sinceMs), text: stackChangeText(stackChange) };
  const unused = useChange && { since: isoTime(useChange.sinceMs), text: useChangeText(useChange) };
  const systems = largest(gathered, parseAsnKey);
  const countries = largest(gathered, parseCountryKey);
  const table = tableOf(policy);
  return {
    version: gathered.version,
    objects,
    // What is claimed is of both times together where something changed.
    sentence: [
      sentenceOf({
        objects,
        clients: totalOf(everyone.arms),
        objections: grounds.objections,
        everyone: everyone.load.claim,
        rttClasses: classes.map(({ load }) => load.claim),
      }),
      ...[change, unused].flatMap((one) => one?.text ?? []),
    ].join(" "),
    harm: harm && { kind: harm.kind, text: harmText(harm) },
    harmComparable: isHarmComparable,
    change,
    unused,
    everyone: sliceView(everyone),
    staying: stayingOf(sumsOf(everyone.arms)),
    grounds: {
      offeredShare: grounds.sampleRatio.share,
      expectedShare: grounds.sampleRatio.expectedShare,
      http3Elsewhere: grounds.elsewhere,
      objections: grounds.objections.map(objectionView),
    },
    rttClasses: classes.map((one, rttClass) => ({
      fromMs: RTT_CLASS_MS[rttClass - 1] ?? 0,
      toMs: RTT_CLASS_MS[rttClass],
      ...sliceView(one),
    })),
    cells: cellsOf(gathered, policy).map(({ cell: { position, rtt, size, loss }, key }) => ({
      position,
      rttMs: table?.rttMs[rtt] ?? 0,
      contentBytes: table?.contentBytes[size] ?? 0,
      lossRatio: loss === undefined ? undefined : table?.lossRatio[loss],
      ...sliceView(slice(key)),
    })),
    countries: countries.large.map(([country, arms]) => ({ country, ...sliceView(sliceOf(arms, grounds)) })),
    countriesLeftOut: countries.leftOut,
    autonomousSystems: systems.large.map(([asn, arms]) => ({ asn, ...sliceView(sliceOf(arms, grounds)) })),
    autonomousSystemsLeftOut: systems.leftOut,
  };
}

/** The keys of one kind that have enough clients, the largest first, and how many others there are. */
function largest<Name>(gathered: Gathered, parse: (key: string) => Name | undefined) {
  const all = gathered.keys.toSorted().flatMap((key) => {
    const name = parse(key);
    return name === undefined ? [] : [[name, gathered.of(key)] as const];
  });
  const large = all
    .filter(([, arms]) => hasEnough(clientsIn(arms)))
    .toSorted(([, a], [, b]) => totalOf(b) - totalOf(a))
    .slice(0, PLACES_MAX);
  return { large, leftOut: all.length - large.length };
}

function sliceView({ arms, load, lcp }: Slice) {
  return {
    ...ofEach(arms, armFiguresOf),
    primary: load.primary,
    load: comparisonView(load),
    lcp: comparisonView(lcp),
  };
}

function comparisonView({ effect, withMissing, claim }: Comparison) {
  return {
    gain: effect?.gain,
    saved: effect &&
      withMissing && {
        value: savedBy(effect.gain.value),
        low: savedBy(withMissing.low),
        high: savedBy(withMissing.high),
      },
    ofChanged: effect?.local,
    claim: {
      interval: undefined,
      withstandsLies: undefined,
      ...claim,
      objections: claim.kind === "none" ? claim.objections.map(objectionView) : [],
    },
  };
}

function objectionView(objection: Objection) {
  return { kind: objection.kind, text: objectionText(objection) };
}

/** What a proposal rests on: the same cells, as evidence. Pure. */
export function learningOf(gathered: Gathered, policy: Policy, stack: Stack | null): Learning {
  const grounds = groundsOf(gathered);
  const evidence = cellsOf(gathered, policy).map(({ cell, key }): CellEvidence => {
    return { cell, arms: sumsOf(gathered.of(key)) };
  });
  const clients = totalOf(gathered.of(EVERYWHERE));
  const change = stackChangeOf(periodSumsOf(gathered), grounds);
  return { version: gathered.version, policy, grounds, evidence, clients, change, stack };
}

function periodSumsOf(gathered: Gathered): PeriodSums[] {
  return gathered.keys.flatMap((key) => {
    const of = parsePeriodKey(key);
    return of === undefined ? [] : [{ ...of, arms: sumsOf(gathered.of(key)) }];
  });
}

function groundsOf(gathered: Gathered): GroundsChecked {
  const fresh = gathered.keys
    .filter((key) => parseCellKey(key)?.position === "new")
    .map((key) => sumsOf(gathered.of(key)));
  return checkGrounds(sumsOf(gathered.of(EVERYWHERE)), mergeArms(fresh), EXPECTED_SHARE);
}

function tableOf(policy: Policy | undefined): GainTable | undefined {
  return policy?.method?.kind === "gains" ? policy.method.table : undefined;
}

/** The cells with clients that are in the policy's table, by position, size, RTT and loss. */
function cellsOf(gathered: Gathered, policy: Policy | undefined): { cell: Cell; key: string }[] {
  const table = tableOf(policy);
  if (table === undefined) return [];
  const { rttMs, contentBytes, lossRatio } = table;
  return gathered.keys
    .flatMap((key) => {
      const cell = parseCellKey(key);
      const isThere =
        cell !== undefined &&
        cell.rtt < rttMs.length &&
        cell.size < contentBytes.length &&
        (cell.loss ?? 0) < lossRatio.length;
      return isThere ? [{ cell, key }] : [];
    })
    .toSorted(
      ({ cell: a }, { cell: b }) =>
        a.position.localeCompare(b.position) || a.size - b.size || a.rtt - b.rtt || (a.loss ?? -1) - (b.loss ?? -1),
    );
}

/**
 * Some of the clients. To which slice a client comes may depend on its arm, as over HTTP/3 an RTT is measured otherwise, so
 * each slice's own draw is checked too.
 */
function sliceOf(arms: Arms<OutcomeSums>, grounds: GroundsChecked): Slice {
  const { isUneven, share, expectedShare } = sampleRatioOf(clientsIn(arms), EXPECTED_SHARE);
  const isKnown = grounds.objections.some(({ kind }) => kind === "sample-ratio");
  if (!isUneven || isKnown) return compared(arms, grounds);
  return compared(arms, {
    ...grounds,
    objections: [...grounds.objections, { kind: "sample-ratio", share, expectedShare }],
  });
}

function compared(arms: Arms<OutcomeSums>, grounds: GroundsChecked) {
  const sums = sumsOf(arms);
  return { arms, load: compare(grounds, sums), lcp: compare(grounds, sums, "lcp") };
}

function sumsOf(arms: Arms<OutcomeSums>): Arms<Sums> {
  return ofEach(arms, ({ sums }) => sums);
}

function clientsIn(arms: Arms<OutcomeSums>): Arms<number> {
  return clientsOf(sumsOf(arms));
}

function totalOf(arms: Arms<OutcomeSums>): number {
  const { offered, withheld } = clientsIn(arms);
  return offered + withheld;
}

/** What one arm did. */
function armFiguresOf(arm: OutcomeSums) {
  const { assigned, load } = arm.sums;
  const termOf = (term: number): number => Number(assigned.sums[term] ?? 0n) / SCALE;
  return {
    clients: Number(assigned.clients),
    pages: termOf(ASSIGNED.pages),
    counted: termOf(ASSIGNED.decided),
    reported: termOf(ASSIGNED.reported),
    overH3: ratiosOf(load)?.means[TIMES.overH3],
    load: tookOf(arm, "load"),
    lcp: tookOf(arm, "lcp"),
  };
}

/** How long pages took. Undefined below two clients. */
function tookOf(arm: OutcomeSums, outcome: Outcome) {
  const ratios = ratiosOf(arm.sums[outcome]);
  const [p75Ms, p99Ms] = [quantileOf(arm[outcome], 0.75), quantileOf(arm[outcome], 0.99)];
  if (ratios === undefined || p75Ms === undefined || p99Ms === undefined) return undefined;
  return { clients: ratios.clients, meanMs: 1000 * Math.exp(ratios.means[TIMES.logs] ?? 0), p75Ms, p99Ms };
}
