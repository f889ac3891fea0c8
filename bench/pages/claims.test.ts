import { describe, expect, it } from "vitest";
import { crossesAsPublished, fasterWhereLossyAndFar, growingRegion, lowRates, oneWindow } from "./claims.ts";
import { readRecorded } from "./recorded.ts";

const recorded = readRecorded();

describe("a published finding beside other figures", () => {
  it("holds, or does not, by the winners of the grid", () => {
    const allH2 = recorded.grid.cells.map((cell) => ({ ...cell, winner: "h2" as const }));
    expect(lowRates(allH2)).toBe("Does not hold");
    const growing = recorded.grid.cells.map((cell) => ({
      ...cell,
      winner: cell.rateMbps >= 200 ? ("h2" as const) : ("h3" as const),
    }));
    expect(growingRegion(growing)).toBe("Holds");
    expect(growingRegion(recorded.grid.cells)).toBe("Does not hold");
  });

  it("is not shown where an interval holds both", () => {
    const { evaluation } = recorded;
    const gains = evaluation.gains.map((one) => ({ ...one, fixedH3: { estimate: 0.5, low: -0.5, high: 3 } }));
    expect(fasterWhereLossyAndFar({ ...evaluation, gains }, "cubic")).toBe("Not shown");
    expect(fasterWhereLossyAndFar({ ...evaluation, gains: [] }, "cubic")).toBe("Not shown");
  });

  it("is not shown where nothing was measured", () => {
    expect(oneWindow([])).toBe("Not shown");
  });

  it("looks where two lines cross", () => {
    expect(crossesAsPublished({ crossover: { x: 48, interval: [46, 51], share: 1 } })).toBe("Holds");
    expect(crossesAsPublished({ crossover: { x: undefined, interval: undefined, share: 0 } })).toBe("Not shown");
  });
});
