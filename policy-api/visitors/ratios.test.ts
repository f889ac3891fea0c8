import { describe, expect, it } from "vitest";
import { combined, momentsOf, noMoments } from "./moments.ts";
import { meanPerClient, ratiosOf } from "./ratios.ts";
import { ASSIGNED, TIMES } from "./sums.ts";
import { drawnDays, numbers, sumOf } from "./testing.ts";

const clients = (rows: readonly (readonly number[])[]) =>
  rows.reduce((sum, row) => combined(sum, momentsOf(row)), noMoments(rows[0]?.length ?? 0));

describe("ratiosOf", () => {
  it("is the variance of a ratio of sums over clusters", () => {
    const next = numbers(7);
    const rows = Array.from({ length: 300 }, () => {
      const pages = 1 + Math.floor(next() * 5);
      return [pages * 4096, Math.round(pages * (next() - 0.3) * 9000), Math.round(pages * next() * 9000)];
    });
    const total = (term: number): number => rows.reduce((sum, row) => sum + (row[term] ?? 0), 0);
    const mean = [0, 1, 2].map((term) => total(term) / total(0));
    const ratios = ratiosOf(clients(rows));
    for (const a of [0, 1, 2]) {
      expect(ratios?.means[a]).toBeCloseTo(mean[a] ?? 0, 12);
      for (const b of [0, 1, 2]) {
        const residuals = rows.reduce((sum, row) => {
          const of = (term: number): number => (row[term] ?? 0) - (mean[term] ?? 0) * (row[0] ?? 0);
          return sum + of(a) * of(b);
        }, 0);
        const expected = ((300 / 299) * residuals) / total(0) ** 2;
        expect(ratios?.covariance(a, b)).toBeCloseTo(expected, 12);
      }
    }
  });

  it("says that the pages of one client are not as good as those of many", () => {
    const next = numbers(3);
    const values = Array.from({ length: 400 }, () => Math.round((next() - 0.5) * 8000));
    const single = clients(values.map((value) => [4096, value]));
    // The same values, each four times: by one client or by four.
    const clustered = clients(values.map((value) => [4 * 4096, 4 * value]));
    const spread = clients(values.flatMap((value) => Array.from({ length: 4 }, () => [4096, value])));
    const variance = (moments: typeof single): number => ratiosOf(moments)?.covariance(1, 1) ?? 0;
    expect(variance(clustered)).toBeCloseTo(variance(single), 10);
    expect(variance(spread) / variance(single)).toBeCloseTo(1 / 4, 2);
  });

  it.each([
    ["no client", []],
    ["one client", [[4096, 100]]],
    [
      "no pages",
      [
        [4096, 0],
        [4096, 0],
      ].map(() => [0, 5]),
    ],
  ])("is undefined of %s", (_name, rows) => {
    expect(ratiosOf(rows.length === 0 ? noMoments(2) : clients(rows))).toBeUndefined();
  });

  it("does not vary where all clients are alike", () => {
    const ratios = ratiosOf(clients(Array.from({ length: 50 }, () => [8192, 1234])));
    for (const [a, b] of [
      [0, 0],
      [0, 1],
      [1, 1],
    ] as const)
      expect(ratios?.covariance(a, b)).toBe(0);
  });

  it("divides by the term that is asked for", () => {
    const { assigned } = sumOf(drawnDays({ clients: 2000, missing: 0.2 }));
    const ratios = ratiosOf(assigned, ASSIGNED.decided);
    expect(ratios?.means[ASSIGNED.reported]).toBeCloseTo(0.8, 1);
    expect(ratios?.means[ASSIGNED.decided]).toBe(1);
  });
});

describe("meanPerClient", () => {
  it("is the mean and its variance", () => {
    const found = meanPerClient(clients([[1], [2], [3], [6]].map(([pages = 0]) => [pages * 4096])), 0);
    expect(found?.mean).toBeCloseTo(3, 12);
    // The sample variance is 14 / 3, of four clients.
    expect(found?.variance).toBeCloseTo(14 / 3 / 4, 12);
  });

  it("is undefined of one client", () => {
    expect(meanPerClient(momentsOf([4096]), 0)).toBeUndefined();
  });
});

it("keeps the order of terms that sums are made in", () => {
  expect(Object.values(TIMES)).toEqual([0, 1, 2, 3, 4]);
  expect(Object.values(ASSIGNED)).toEqual([0, 1, 2, 3, 4]);
});
