import { describe, expect, it } from "vitest";
import { addReport, type ClientDay, EMPTY_DAY } from "../../../policy-api/outcomes/client-day.ts";
import { SCALE } from "../../../policy-api/outcomes/fixed-point.ts";
import { add, NO_SUMS } from "../../../policy-api/outcomes/sums.ts";
import { addRow, noArmSums, sumsOf } from "./arm-sums.ts";
import { clientsOf, copyRow, emptyRow, type Row } from "./clients.ts";
import { drawsOf } from "./draws.ts";
import { SCENARIOS } from "./scenarios.ts";

function dayOf({ decided, reported, logs, predicted, overH3, atBound }: Row): ClientDay {
  return { ...EMPTY_DAY, decided, load: { pages: reported, logs, predicted, overH3, atBound } };
}

describe("the simulation's sums", () => {
  it.each(SCENARIOS.filter((_, i) => i % 3 === 1))("are those of policy-api/outcomes: $name", (scenario) => {
    const draw = clientsOf(scenario, drawsOf(1, "test"));
    const sums = noArmSums();
    let exact = NO_SUMS;
    const [row, first] = [emptyRow(), emptyRow()];
    for (let client = 0; client < 600; client++) {
      draw(client % 2 === 0, row, first);
      const day = dayOf(row);
      addRow(sums, row, 1);
      // A first page that is taken out again leaves nothing.
      addRow(sums, first, 1);
      addRow(sums, first, -1);
      exact = add(exact, day);
    }
    expect(sumsOf(sums)).toEqual(exact);
  });
});

describe("a drawn client", () => {
  it("has rows that a page's report could have made", () => {
    // The parts of a row by addReport, of a page that took exp(1) s and was expected to take 1 s.
    const load = { ms: 1000 * Math.E, expectedMs: 1000 };
    const added = addReport({ ...EMPTY_DAY, decided: 1 }, { overH3: true, load });
    const expected = { pages: 1, logs: SCALE, predicted: 0, overH3: 1, atBound: 0 };
    expect(added.kind === "added" && added.day.load).toEqual(expected);
    const [scenario] = SCENARIOS.slice(-1);
    if (scenario === undefined) throw new Error("No scenario.");
    const draw = clientsOf(scenario, drawsOf(2, "test"));
    const [row, first] = [emptyRow(), emptyRow()];
    let beyond = 0;
    for (let client = 0; client < 2000; client++) {
      draw(true, row, first);
      expect(first.decided).toBe(1);
      expect(row.decided).toBeLessThanOrEqual(50);
      for (const one of [row, first]) {
        expect(one.reported).toBeLessThanOrEqual(one.decided);
        expect(one.overH3 + one.atBound).toBeLessThanOrEqual(2 * one.reported);
        expect(Math.abs(one.logs - one.predicted)).toBeLessThanOrEqual(Math.round(Math.log(4) * SCALE) * one.reported);
      }
      beyond += row.decided > 1 ? 1 : 0;
    }
    expect(beyond).toBeGreaterThan(1000);
  });

  it("is the same under both assignments, but for what HTTP/3 changes", () => {
    const [scenario] = SCENARIOS;
    if (scenario === undefined) throw new Error("No scenario.");
    const [offer, withhold] = [true, false].map((isOffered) => {
      const draw = clientsOf(scenario, drawsOf(3, "test"));
      const rows: Row[] = [];
      const [row, first] = [emptyRow(), emptyRow()];
      for (let client = 0; client < 300; client++) {
        draw(isOffered, row, first);
        const copy = emptyRow();
        copyRow(row, copy);
        rows.push({ ...copy, overH3: 0 });
      }
      return rows;
    });
    // Nothing is planted in the first scenario, so only the protocol differs.
    expect(offer).toEqual(withhold);
  });
});
