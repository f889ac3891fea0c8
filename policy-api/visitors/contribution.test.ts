import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EMPTY_DAY, PAGES_COUNTED, REACH_FIXED } from "./client-day.ts";
import { ASSIGNED, contributionOf, PAGES_STAYED, TIMES } from "./contribution.ts";
import { SCALE } from "./fixed-point.ts";
import { clientDay, report } from "./testing.ts";

const pages = (count: number, ms: number, overH3 = false) =>
  Array.from({ length: count }, () => report(ms, { overH3 }));

describe("contributionOf", () => {
  it("is a client's own sums, while it has no more pages than count", () => {
    const { load, assigned } = contributionOf(clientDay([report(2000, { overH3: true }), report(500)], 0));
    expect(load).toEqual([2 * SCALE, 0, 0, SCALE, 0]);
    expect(assigned).toEqual([2 * SCALE, 2 * SCALE, 2 * SCALE, 0, 0]);
  });

  it.each([2, 3, 7, 50, 1000])("lets a client with %d alike pages count as two of them", (count) => {
    const { load } = contributionOf(clientDay(pages(count, 2000, true)));
    const [two] = [contributionOf(clientDay(pages(2, 2000, true))).load];
    expect(load).toEqual(two);
  });

  it("counts each page of a busy client by its mean", () => {
    const { load } = contributionOf(clientDay([...pages(3, 1000), report(4000, { overH3: true })]));
    expect((load[TIMES.logs] ?? 0) / SCALE).toBeCloseTo(Math.log(4) / 2, 3);
    expect((load[TIMES.overH3] ?? 0) / SCALE).toBeCloseTo(0.5, 3);
  });

  it.each([
    [1, 0, 1, 0],
    [1, 1, 2, 1],
    [8, 2, 2, 2 * (2 / 10)],
    [0, 4, 2, 2],
  ])(
    "of %d reports and %d pages without, counts %d pages of which %d are missing",
    (reports, without, counted, lost) => {
      const { assigned } = contributionOf(clientDay(pages(reports, 1000), without));
      expect((assigned[ASSIGNED.decided] ?? 0) / SCALE).toBeCloseTo(counted, 3);
      expect(((assigned[ASSIGNED.decided] ?? 0) - (assigned[ASSIGNED.reported] ?? 0)) / SCALE).toBeCloseTo(lost, 3);
    },
  );

  it("counts up to 50 pages where it is asked who stays", () => {
    expect(contributionOf(clientDay(pages(49, 1000))).assigned[ASSIGNED.pages]).toBe(49 * SCALE);
    expect(contributionOf(clientDay(pages(400, 1000))).assigned[ASSIGNED.pages]).toBe(PAGES_STAYED * SCALE);
  });

  it("is nothing of a client without pages", () => {
    expect(contributionOf(EMPTY_DAY).assigned).toEqual([0, 0, 0, 0, 0]);
  });

  it.each([
    [[2000], 0, Math.log(2)],
    [[2000], 1, Math.log(2) + Math.log(4)],
    [[], 1, Math.log(4)],
    [[], 9, 2 * Math.log(4)],
    [[500, 500], 2, -Math.log(2) + Math.log(4)],
  ])("of reports of %j ms and %d pages without, counts those as the slowest", (times, without, beyond) => {
    const { assigned } = contributionOf(
      clientDay(
        times.map((ms) => report(ms)),
        without,
      ),
    );
    expect((assigned[ASSIGNED.beyond] ?? 0) / SCALE).toBeCloseTo(beyond, 3);
  });

  it("is bounded, whatever a client reports", () => {
    const times = fc.array(fc.double({ min: 1e-3, max: 3_600_000, noNaN: true }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(times, (all) => {
        const { load } = contributionOf(clientDay(all.map((ms) => report(ms))));
        // Half a part is what rounding adds.
        expect(Math.abs(load[TIMES.logs] ?? 0)).toBeLessThanOrEqual(REACH_FIXED * PAGES_COUNTED + 0.5);
        expect(load[TIMES.pages]).toBeLessThanOrEqual(PAGES_COUNTED * SCALE);
      }),
    );
  });
});
