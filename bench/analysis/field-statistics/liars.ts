import type { Arms } from "../../../policy-api/outcomes/arms.ts";
import { PAGES_COUNTED, REACH_FIXED } from "../../../policy-api/outcomes/client-day.ts";
import { effectOf } from "../../../policy-api/outcomes/effect.ts";
import { LIARS } from "../../../policy-api/outcomes/lies.ts";
import type { Sums } from "../../../policy-api/outcomes/sums.ts";
import { addRow, noArmSums, sumsOf } from "./arm-sums.ts";
import { clientsOf, emptyRow, type Row } from "./clients.ts";
import { drawsOf } from "./draws.ts";
import { CLIENTS, type Scenario } from "./scenarios.ts";

/** What those who lie say, in each arm: the slowest pages that count, the fastest, or the truth. */
export const LIES = {
  "all say slow": { offered: 1, withheld: 1 },
  "those offered say slow": { offered: 1, withheld: 0 },
  "each arm says the opposite": { offered: 1, withheld: -1 },
} as const satisfies Readonly<Record<string, Arms<-1 | 0 | 1>>>;
export type Lie = keyof typeof LIES;

/** Numbers of clients, both arms together, at which the estimates are compared. */
export const LIARS_LOOKS = [200, 600, 2000, 6000, CLIENTS] as const;

/** What lies did at one number of clients. */
export interface Moved {
  readonly clients: number;
  /** Of runs that have an interval. */
  runs: number;
  /** Runs in which the estimate moved by less than its interval reaches to one side. */
  within: number;
  /** Sums over runs: by how much it moved, and how far the interval reaches. */
  moved: number;
  reach: number;
  /** The most that it moved beside the bound that is said with it. */
  mostOfBound: number;
}

/** Plays runs twice, with the same clients: honest, and with one client in twenty who lies. */
export function playLiars(scenario: Scenario, lie: Lie, runs: number, seed: number): readonly Moved[] {
  const looks: Moved[] = LIARS_LOOKS.map((clients) => ({
    clients,
    runs: 0,
    within: 0,
    moved: 0,
    reach: 0,
    mostOfBound: 0,
  }));
  for (let run = 0; run < runs; run++) {
    const draws = drawsOf(seed, "liars", scenario.name, run);
    const draw = clientsOf(scenario, draws);
    const honest = { offered: noArmSums(), withheld: noArmSums() };
    const lied = { offered: noArmSums(), withheld: noArmSums() };
    const [row, first] = [emptyRow(), emptyRow()];
    let look = 0;
    for (let client = 0; client < CLIENTS; client++) {
      const arm = draws.uniform() < 0.5 ? "offered" : "withheld";
      const lies = draws.uniform() < LIARS;
      draw(arm === "offered", row, first);
      addRow(honest[arm], row, 1);
      const side = LIES[lie][arm];
      if (lies && side !== 0) saySo(row, side);
      addRow(lied[arm], row, 1);
      const at = looks[look];
      if (client + 1 !== at?.clients) continue;
      look++;
      note(at, both(honest), both(lied));
    }
  }
  return looks;
}

/** As many pages as count, and all of them at a bound. */
function saySo(row: Row, side: 1 | -1): void {
  const predicted = row.reported > 0 ? Math.round(row.predicted / row.reported) : 0;
  row.decided = row.reported = PAGES_COUNTED;
  row.predicted = PAGES_COUNTED * predicted;
  row.logs = PAGES_COUNTED * (predicted + side * REACH_FIXED);
  row.overH3 = 0;
  row.atBound = 0;
}

function note(at: Moved, honest: Arms<Sums>, lied: Arms<Sums>): void {
  const [before, after] = [effectOf(honest), effectOf(lied)];
  if (before === undefined || after === undefined) return;
  const moved = Math.abs(after.gain.value - before.gain.value);
  const reach = (after.gain.high - after.gain.low) / 2;
  at.runs++;
  at.moved += moved;
  at.reach += reach;
  if (moved < reach) at.within++;
  at.mostOfBound = Math.max(at.mostOfBound, moved / after.liesShift);
}

function both({ offered, withheld }: Arms<Float64Array>): Arms<Sums> {
  return { offered: sumsOf(offered), withheld: sumsOf(withheld) };
}
