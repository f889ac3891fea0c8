import type { Arms, Interval } from "../../../policy-api/outcomes/arms.ts";
import { compare, type Compared, type GroundsChecked, unsureBy } from "../../../policy-api/outcomes/compare.ts";
import { sampleRatioOf } from "../../../policy-api/outcomes/sample-ratio.ts";
import type { Sums } from "../../../policy-api/outcomes/sums.ts";
import { addRow, type ArmSums, noArmSums, sumsOf } from "./arm-sums.ts";
import { clientsOf, COMPLIANCE, copyRow, emptyRow, type Row } from "./clients.ts";
import { drawsOf } from "./draws.ts";
import { CLIENTS, LOOKS, plantedLocal, type Scenario } from "./scenarios.ts";

/** How many clients arrive before a row that grows has all of its pages. */
const LAG = 300;
/** Each client under both assignments. */
const TRUTH_CLIENTS = 400_000;
const Z95 = 1.959964;

/** What is true in a scenario. */
export interface Truth {
  readonly primary: number;
  readonly gain: number;
  readonly local: number;
}

/** What all runs of a scenario came to. Counts are of runs. */
export interface Tally {
  readonly scenario: Scenario;
  readonly truth: Truth;
  readonly runs: number;
  /** Runs in which each interval held the truth at every look. */
  readonly covered: { primary: number; gain: number; plainGain: number; local: number; fixed: number };
  /** At each look: runs in which the interval excluded 0, and those in which an effect was claimed. */
  readonly shown: { primary: number; gain: number; claimed: number }[];
  /** Runs at any look of which the draw was called uneven, or reporting different. */
  readonly called: { uneven: number; reportsDiffer: number };
  /** After all clients: sums over runs. */
  readonly last: {
    error: number;
    reach: number;
    fixedReach: number;
    widened: number;
    atBound: number;
    liesShift: number;
  };
}

/** Plays a scenario so many times. The same seed gives the same tally. */
export function playScenario(scenario: Scenario, runs: number, seed: number): Tally {
  const truth = truthOf(scenario, seed);
  const tally: Tally = {
    scenario,
    truth,
    runs,
    covered: { primary: 0, gain: 0, plainGain: 0, local: 0, fixed: 0 },
    shown: LOOKS.map(() => ({ primary: 0, gain: 0, claimed: 0 })),
    called: { uneven: 0, reportsDiffer: 0 },
    last: { error: 0, reach: 0, fixedReach: 0, widened: 0, atBound: 0, liesShift: 0 },
  };
  for (let run = 0; run < runs; run++) playRun(tally, seed, run);
  return tally;
}

function playRun(tally: Tally, seed: number, run: number): void {
  const { scenario, truth, covered, called, last, shown } = tally;
  const missed = { primary: false, gain: false, plainGain: false, local: false, fixed: false };
  let uneven = false;
  let differs = false;
  let look = -1;
  for (const arms of arrivals(scenario, seed, run)) {
    look++;
    const found = compare(GROUNDS, arms);
    const { effect, primary, withMissing } = found;
    const at = shown[look];
    if (effect === undefined || primary === undefined || withMissing === undefined || at === undefined) continue;
    const { gain } = effect;
    const { local } = withMissing;
    const by = unsureBy(effect, found.missing);
    missed.primary ||= !holds(primary, truth.primary);
    missed.gain ||= !holds(withMissing.gain, truth.gain);
    missed.plainGain ||= !holds(gain, truth.gain);
    missed.local ||= local !== undefined && !holds(local, truth.local);
    missed.fixed ||= Math.abs(gain.value - truth.gain) > Z95 * gain.se;
    differs ||= found.missing?.differs === true;
    uneven ||= isUneven(arms);
    if (!holds(primary, 0)) at.primary++;
    if (!holds(gain, 0)) at.gain++;
    if (isClaimed(found)) at.claimed++;
    if (look < LOOKS.length - 1) continue;
    last.error += gain.value - truth.gain;
    last.reach += reachOf(gain);
    last.fixedReach += Z95 * gain.se;
    last.widened += by;
    last.atBound += effect.atBound;
    last.liesShift += effect.liesShift;
  }
  for (const name of ["primary", "gain", "plainGain", "local", "fixed"] as const) if (!missed[name]) covered[name]++;
  if (uneven) called.uneven++;
  if (differs) called.reportsDiffer++;
}

/** Nothing is held against the draw here: how often it is called uneven is counted apart. */
const GROUNDS: GroundsChecked = {
  sampleRatio: sampleRatioOf({ offered: 0, withheld: 0 }, 0.5),
  elsewhere: 0,
  objections: [],
};

function isClaimed({ claim }: Compared): boolean {
  return claim.kind !== "none";
}

function isUneven({ offered, withheld }: Arms<Sums>): boolean {
  const counts = { offered: Number(offered.assigned.clients), withheld: Number(withheld.assigned.clients) };
  return sampleRatioOf(counts, 0.5).isUneven;
}

function holds({ low, high }: Interval, truth: number): boolean {
  return low <= truth && truth <= high;
}

function reachOf({ low, high }: Interval): number {
  return (high - low) / 2;
}

/** The sums of both arms at each look. */
function* arrivals(scenario: Scenario, seed: number, run: number): Generator<Arms<Sums>> {
  const draws = drawsOf(seed, scenario.name, run);
  const draw = clientsOf(scenario, draws);
  const arms: readonly [ArmSums, ArmSums] = [noArmSums(), noArmSums()];
  const waiting = Array.from({ length: LAG }, () => ({ arm: arms[0], first: emptyRow(), whole: emptyRow() }));
  const [row, first] = [emptyRow(), emptyRow()];
  let look = 0;
  for (let client = 0; client < CLIENTS; client++) {
    const isOffered = draws.uniform() < 0.5;
    const arm = isOffered ? arms[0] : arms[1];
    draw(isOffered, row, first);
    if (scenario.grows) {
      const slot = waiting[client % LAG] as (typeof waiting)[number];
      if (client >= LAG) grow(slot.arm, slot.first, slot.whole);
      slot.arm = arm;
      copyRow(first, slot.first);
      copyRow(row, slot.whole);
      addRow(arm, first, 1);
    } else addRow(arm, row, 1);
    if (client + 1 !== LOOKS[look]) continue;
    look++;
    yield { offered: sumsOf(arms[0]), withheld: sumsOf(arms[1]) };
  }
}

/** A client's row of its first page is taken out, and that of all its pages put in. */
function grow(arm: ArmSums, first: Row, whole: Row): void {
  addRow(arm, first, -1);
  addRow(arm, whole, 1);
}

/** The planted figures, and the primary outcome's by the same clients under both assignments. */
export function truthOf(scenario: Scenario, seed: number): Truth {
  const local = plantedLocal(scenario);
  const beyondOf = (isOffered: boolean): number => {
    const draw = clientsOf(scenario, drawsOf(seed, scenario.name, "truth"));
    const sums = noArmSums();
    const [row, first] = [emptyRow(), emptyRow()];
    for (let client = 0; client < TRUTH_CLIENTS; client++) {
      draw(isOffered, row, first);
      addRow(sums, row, 1);
    }
    const { assigned } = sumsOf(sums);
    return Number(assigned.sums[3]) / Number(assigned.sums[1]);
  };
  return { local, gain: COMPLIANCE * local, primary: beyondOf(false) - beyondOf(true) };
}
