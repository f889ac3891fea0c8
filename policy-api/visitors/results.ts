import type { Policy } from "../decision/policy.ts";
import { stayingOf } from "./assigned-pages.ts";
import { SCALE } from "./client-day.ts";
import { checkGrounds, compare, type Comparison, type GroundsChecked } from "./compare.ts";
import { type PeriodSums, type StackChange, stackChangeOf, type UseChange, useChangeOf } from "./effect-changes.ts";
import type { Gathered, OutcomeSums } from "./gathered.ts";
import { harmOf, type HarmSought } from "./harm.ts";
import { type Arms, CLIENTS_MIN, type Estimate, ofEach } from "./intervals.ts";
import type { CellEvidence } from "./learn.ts";
import type { Learning } from "./propose.ts";
import { quantileOf } from "./quantiles.ts";
import { ratiosOf } from "./ratios.ts";
import {
  type Cell,
  EVERYWHERE,
  parseCellKey,
  parsePeriodKey,
  RTT_CLASS_MS,
  rttKey,
  asnKey,
  parseAsnKey,
} from "./row-keys.ts";
import { sampleRatioOf } from "./sample-ratio.ts";
import { ASSIGNED, mergeArms, type Outcome, type Sums, TIMES } from "./sums.ts";

/** Some of the clients: what they add up to, and what that says. */
export interface Slice {
  readonly arms: Arms<OutcomeSums>;
  readonly load: Comparison;
  readonly lcp: Comparison;
}

/** What the clients of one version say. */
export interface Results extends HarmSought {
  readonly version: number;
  /** How many objects were asked, and how many of them answered. */
  readonly objects: Objects;
  readonly grounds: GroundsChecked;
  /** Undefined: none is shown. Otherwise all figures are of both times together. */
  readonly change: StackChange | undefined;
  /** Undefined: offers are followed as before, as far as is shown. */
  readonly unused: UseChange | undefined;
  /** All clients. Its claim is the one that is made; every other slice is a look besides. */
  readonly everyone: Slice;
  /** ln(pages per client offered / pages per client withheld). */
  readonly staying: Estimate | undefined;
  /** By class of RTT, in their order. */
  readonly rttClasses: readonly Slice[];
  /** The cells of the version's gain table that have clients. */
  readonly cells: readonly { readonly cell: Cell; readonly slice: Slice }[];
  /** Autonomous systems with enough clients in both arms, the largest first. */
  readonly systems: readonly { readonly asn: number; readonly slice: Slice }[];
  /** How many more have clients. */
  readonly systemsLeftOut: number;
}

export interface Objects {
  readonly asked: number;
  readonly answered: number;
}

/** The draw gives each arm half of the clients. */
const EXPECTED_SHARE = 0.5;

/** How many autonomous systems are shown. */
const SYSTEMS_MAX = 100;

/** What was gathered of a version, compared. Pure. */
export function resultsOf(gathered: Gathered, policy: Policy | undefined, objects: Objects): Results {
  const grounds = groundsOf(gathered);
  const slice = (key: string): Slice => sliceOf(gathered.of(key), grounds);
  const all = gathered.of(EVERYWHERE);
  const classes = Array.from({ length: RTT_CLASS_MS.length + 1 }, (_, rttClass) => rttKey(rttClass));
  const systems = gathered.keys
    .flatMap((key) => parseAsnKey(key) ?? [])
    .map((asn) => ({ asn, arms: gathered.of(asnKey(asn)) }));
  const large = systems
    .filter(({ arms }) => clientsOf(arms).every((clients) => clients >= CLIENTS_MIN))
    .toSorted((a, b) => sumOf(clientsOf(b.arms)) - sumOf(clientsOf(a.arms)) || a.asn - b.asn)
    .slice(0, SYSTEMS_MAX);
  return {
    version: gathered.version,
    objects,
    grounds,
    ...(policy === undefined
      ? { harm: undefined, isHarmComparable: false }
      : harmOf(
          policy,
          classes.map((key) => sumsOf(gathered.of(key))),
          grounds,
        )),
    change: stackChangeOf(periodSumsOf(gathered), grounds),
    unused: useChangeOf(periodSumsOf(gathered), grounds),
    everyone: compared(all, grounds),
    staying: stayingOf(sumsOf(all)),
    rttClasses: classes.map(slice),
    cells: cellsOf(gathered, policy).map(({ cell, key }) => ({ cell, slice: slice(key) })),
    systems: large.map(({ asn, arms }) => ({ asn, slice: sliceOf(arms, grounds) })),
    systemsLeftOut: systems.length - large.length,
  };
}

/** What a proposal rests on: the same cells, as evidence. Pure. */
export function learningOf(gathered: Gathered, policy: Policy): Learning {
  const grounds = groundsOf(gathered);
  const evidence = cellsOf(gathered, policy).map(({ cell, key }): CellEvidence => {
    return { cell, arms: sumsOf(gathered.of(key)) };
  });
  const clients = sumOf(clientsOf(gathered.of(EVERYWHERE)));
  const change = stackChangeOf(periodSumsOf(gathered), grounds);
  return { version: gathered.version, policy, grounds, evidence, clients, change };
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
  const newClients = mergeArms(fresh);
  return checkGrounds({ everyone: sumsOf(gathered.of(EVERYWHERE)), newClients, expectedShare: EXPECTED_SHARE });
}

/** The cells with clients that are in the policy's table, by position, size, RTT and loss. */
function cellsOf(gathered: Gathered, policy: Policy | undefined): { cell: Cell; key: string }[] {
  const method = policy?.method;
  if (method?.kind !== "gains") return [];
  const { rttMs, contentBytes, lossRatio } = method.table;
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
  const [offered = 0, withheld = 0] = clientsOf(arms);
  const { isUneven, share, expectedShare } = sampleRatioOf({ offered, withheld }, EXPECTED_SHARE);
  const isKnown = grounds.objections.some(({ kind }) => kind === "sample-ratio");
  if (!isUneven || isKnown) return compared(arms, grounds);
  return compared(arms, {
    ...grounds,
    objections: [...grounds.objections, { kind: "sample-ratio", share, expectedShare }],
  });
}

function compared(arms: Arms<OutcomeSums>, grounds: GroundsChecked): Slice {
  const sums = sumsOf(arms);
  return { arms, load: compare(grounds, sums), lcp: compare(grounds, sums, "lcp") };
}

function sumsOf(arms: Arms<OutcomeSums>): Arms<Sums> {
  return ofEach(arms, ({ sums }) => sums);
}

function clientsOf({ offered, withheld }: Arms<OutcomeSums>): number[] {
  return [offered, withheld].map(({ sums }) => Number(sums.assigned.clients));
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}

/** What one arm did. */
export interface ArmFigures {
  /** That were assigned. A client of two periods counts as two. */
  readonly clients: number;
  /** Pages that were decided about, at most 50 of a client. */
  readonly pages: number;
  /** Pages that count, at most two of a client, and how many of them reported. */
  readonly counted: number;
  readonly reported: number;
  /** The share of reported pages that came over HTTP/3. Undefined without any. */
  readonly overH3: number | undefined;
  readonly load: LoadTimes | undefined;
  readonly lcp: LoadTimes | undefined;
}

/** How long pages took, milliseconds. */
export interface LoadTimes {
  /** Of which a page said it. */
  readonly clients: number;
  /** The geometric mean. A page that took more than four times what was expected, or less than a quarter, counts as that. */
  readonly meanMs: number;
  /** Of each client's first two pages. Right to 2 %. */
  readonly p75Ms: number;
  readonly p99Ms: number;
}

/** The figures of an arm. Pure. */
export function armFiguresOf(arm: OutcomeSums): ArmFigures {
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

/** Undefined below two clients. */
function tookOf(arm: OutcomeSums, outcome: Outcome): LoadTimes | undefined {
  const ratios = ratiosOf(arm.sums[outcome]);
  const [p75Ms, p99Ms] = [quantileOf(arm[outcome], 0.75), quantileOf(arm[outcome], 0.99)];
  if (ratios === undefined || p75Ms === undefined || p99Ms === undefined) return undefined;
  return { clients: ratios.clients, meanMs: 1000 * Math.exp(ratios.means[TIMES.logs] ?? 0), p75Ms, p99Ms };
}
