import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Cell } from "../../model/cell.ts";
import type { LoadExperiment } from "../../model/load-experiment.ts";
import { exampleRow } from "../../model/testing.ts";
import type { LoadRow } from "../../model/load-row.ts";
import { type Load, nextLoads } from "./schedule.ts";

const CELL: Cell = {
  id: "x-cubic",
  network: { name: "x", rateMbps: 100, delayMs: 5, lossRatio: 0, queueBytes: 1_500_000 },
  congestion: "cubic",
  imageBytes: 1000,
};
const EXPERIMENT: LoadExperiment = {
  loads: [
    { arm: "fixed-h2", flow: "download" },
    { arm: "fixed-h3", flow: "download" },
  ],
  cells: [CELL],
  allocation: { first: 4, cap: 12, comparisons: [{ flow: "download", a: "fixed-h2", b: "fixed-h3" }] },
  timeoutMs: 1000,
  notes: [],
};

/** A machine whose loads depend on the load's name alone, as with a seed. */
type Machine = (load: Load) => Partial<LoadRow>;

/** Runs until nothing is needed, a batch at a time; `dies` says how many rows each start of the program gets to write. */
function run(machine: Machine, dies: readonly number[] = [], cell: Cell = CELL, experiment = EXPERIMENT): LoadRow[] {
  const rows: LoadRow[] = [];
  for (const written of [...dies, Number.POSITIVE_INFINITY]) {
    const end = rows.length + written;
    while (rows.length < end) {
      const loads = nextLoads(experiment, cell, rows, 1);
      if (loads.length === 0) return rows;
      for (const load of loads.slice(0, end - rows.length))
        rows.push(exampleRow({ ...load, cell: CELL.id, ...machine(load) }));
    }
  }
  return rows;
}

/** Each arm's loads in their order: what a look goes by. How the arms take turns may differ where a batch was cut. */
function loadsByArm(rows: readonly LoadRow[]): ReadonlyMap<string, string[]> {
  const ids = (arm: string): string[] => rows.filter((row) => row.arm === arm).map(({ id }) => id);
  return new Map(EXPERIMENT.loads.map(({ arm }) => [arm, ids(arm)]));
}

const plain: Machine = ({ arm, round }) => ({ loadMs: (arm === "fixed-h2" ? 100 : 200) + (round % 3) });
const open: Machine = ({ round, arm }) => ({ loadMs: 100 + ((round * 7 + (arm === "fixed-h2" ? 3 : 0)) % 11) });

describe("nextLoads", () => {
  it("stops at the first look where the answer is plain, and at the cap where it stays open", () => {
    expect(run(plain)).toHaveLength(4 * 2);
    expect(run(open)).toHaveLength(12 * 2);
  });

  it("makes up for rows that do not count, with loads of the arm that lacks them alone", () => {
    const isBusy = ({ arm, round }: Load): boolean => arm === "fixed-h3" && round === 1;
    const rows = run((load) => ({ ...plain(load), dropped: isBusy(load) ? "busy" : "" }));
    expect(rows.filter(({ arm, dropped }) => arm === "fixed-h3" && dropped === "")).toHaveLength(4);
    expect(rows.filter(({ arm }) => arm === "fixed-h2")).toHaveLength(4);
    expect(rows).toHaveLength(4 * 2 + 1);
  });

  it("gives up where the machine is too busy for any row to count", () => {
    expect(run(() => ({ dropped: "busy" }))).toHaveLength(12 * 2 * 2);
    const once = { ...EXPERIMENT, attemptsPerRow: 1 };
    expect(run(() => ({ dropped: "busy" }), [], CELL, once)).toHaveLength(12 * 2);
    const rows = run((load) => ({ ...plain(load), dropped: load.arm === "fixed-h3" ? "busy" : "" }));
    expect(rows.filter(({ arm }) => arm === "fixed-h3")).toHaveLength(12 * 2);
    expect(rows.filter(({ arm }) => arm === "fixed-h2")).toHaveLength(4);
  });

  it("makes as many loads of an arm a round as the cell asks for, dropped ones made up, wherever it was killed", () => {
    const cell: Cell = { ...CELL, perRound: { "fixed-h2/download": 3 } };
    const busy: Machine = (load) => ({ ...plain(load), dropped: load.round % 4 === 2 ? "late" : "" });
    const whole = run(busy, [], cell);
    const results = (arm: LoadRow["arm"]) => whole.filter((row) => row.arm === arm && row.dropped === "");
    expect(results("fixed-h2")).toHaveLength(4 * 3);
    expect(results("fixed-h3")).toHaveLength(4);
    expect(new Set(whole.map(({ id }) => id)).size).toBe(whole.length);
    expect(loadsByArm(run(busy, [5, 3, 1], cell))).toEqual(loadsByArm(whole));
  });

  it("does not make failed loads again until they succeed", () => {
    const rows = run((load) => ({ ...plain(load), ...(load.round === 2 ? { outcome: "failed", loadMs: null } : {}) }));
    expect(rows.filter(({ outcome }) => outcome === "failed")).toHaveLength(2);
    expect(rows.length).toBeLessThanOrEqual(12 * 2);
  });

  it("asks for every arm once a round, in an order that rounds do not share", () => {
    const rows = run(open);
    const orders = new Set<string>();
    for (let round = 0; round < 12; round++) {
      const arms = rows.filter((row) => row.round === round).map(({ arm }) => arm);
      expect(arms.toSorted()).toEqual(["fixed-h2", "fixed-h3"]);
      orders.add(arms.join());
    }
    expect(orders.size).toBe(2);
  });

  it("comes to the same loads of each arm wherever it was killed, and however often", () => {
    const deaths = fc.array(fc.nat(30), { maxLength: 6 });
    fc.assert(
      // The last row that one arm may have comes with its last try, before or after the other arm's.
      fc.property(deaths, fc.nat(10), fc.integer({ min: 2, max: 6 }), (dies, gapMs, every) => {
        const isLate = ({ arm, round }: Load): boolean => (round + (arm === "fixed-h2" ? 1 : 0)) % every === 0;
        const busy: Machine = (load) => ({
          loadMs: (open(load).loadMs ?? 0) + (load.arm === "fixed-h2" ? 0 : gapMs),
          dropped: isLate(load) ? "late" : "",
        });
        expect(loadsByArm(run(busy, dies))).toEqual(loadsByArm(run(busy)));
      }),
      { examples: [[[21, 15, 4], 0, 2]] },
    );
  });
});
