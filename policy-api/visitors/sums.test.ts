import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "../decision/parse.ts";
import { type ClientDay, EMPTY_DAY, PAGES_COUNTED, REACH_FIXED, SCALE } from "./client-day.ts";
import { combined, momentsOf, noMoments, productOf } from "./moments.ts";
import {
  ASSIGNED,
  contributionOf,
  merge,
  NO_SUMS,
  PAGES_STAYED,
  readSums,
  replaceAll,
  type Sums,
  sumsText,
  TIMES,
} from "./sums.ts";
import { clientDay, drawnDays, report, sumOf } from "./testing.ts";

const anyPage = fc.record({
  overH3: fc.boolean(),
  load: fc.record({
    ms: fc.double({ min: 1, max: 3_600_000, noNaN: true }),
    expectedMs: fc.integer({ min: 1, max: 60_000 }),
  }),
});
const anyDay: fc.Arbitrary<ClientDay> = fc
  .tuple(fc.array(anyPage, { maxLength: 6 }), fc.nat(3))
  .map(([pages, unreported]) => clientDay(pages, unreported));
const anyDays = fc.array(anyDay, { maxLength: 12 });

describe("sums", () => {
  it("do not depend on the order of adding", () => {
    fc.assert(
      fc.property(anyDays, fc.infiniteStream(fc.nat()), (days, order) => {
        const keyed = days.map((day) => [order.next().value as number, day] as const);
        const shuffled = keyed.toSorted(([a], [b]) => a - b).map(([, day]) => day);
        expect(sumOf(shuffled)).toEqual(sumOf(days));
      }),
    );
  });

  it("lose nothing when rows are taken out and put back as they grow, one by one or all at once", () => {
    const pairs = fc.array(fc.record({ before: anyDay, after: anyDay }), { maxLength: 12 });
    fc.assert(
      fc.property(anyDays, pairs, (days, clients) => {
        const sums = sumOf([...days, ...clients.map(({ before }) => before)]);
        const expected = sumOf([...days, ...clients.map(({ after }) => after)]);
        expect(replaceAll(sums, clients)).toEqual(expected);
        expect(clients.reduce((sum: Sums, client) => replaceAll(sum, [client]), sums)).toEqual(expected);
      }),
    );
  });

  it("are the same however they are merged", () => {
    fc.assert(
      fc.property(anyDays, anyDays, anyDays, (a, b, c) => {
        const [x, y, z] = [sumOf(a), sumOf(b), sumOf(c)];
        expect(merge(x, y)).toEqual(merge(y, x));
        expect(merge(merge(x, y), z)).toEqual(merge(x, merge(y, z)));
        expect(merge(x, y)).toEqual(sumOf([...a, ...b]));
        expect(merge(x, NO_SUMS)).toEqual(x);
      }),
    );
  });

  it("come back from JSON to the last digit", () => {
    fc.assert(
      fc.property(anyDays, (days) => {
        const sums = sumOf(days);
        expect(parse(readSums, JSON.parse(sumsText(sums)))).toEqual({ ok: true, value: sums });
      }),
    );
  });

  it("count a client that reported nothing among those assigned, and not among those that reported", () => {
    const sums = sumOf([clientDay([], 2), clientDay([report(1000)])]);
    expect(sums.assigned.clients).toBe(2n);
    expect(sums.load.clients).toBe(1n);
    expect(sums.lcp.clients).toBe(0n);
  });

  it("count a client without pages not at all", () => {
    expect(sumOf([clientDay([])])).toEqual(NO_SUMS);
  });
});

describe("readSums", () => {
  const good = JSON.parse(sumsText(sumOf(drawnDays({ clients: 5 })))) as Record<
    keyof Sums,
    Record<"clients" | "sums" | "products", string[]>
  >;
  it.each([
    ["/load/clients", { ...good, load: { ...good.load, clients: "-1" } }],
    ["/load/clients", { ...good, load: { ...good.load, clients: 5 } }],
    ["/load/clients", { ...good, load: { ...good.load, clients: "5.0" } }],
    ["/load/sums", { ...good, load: { ...good.load, sums: ["1"] } }],
    ["/lcp/products", { ...good, lcp: { ...good.lcp, products: ["-4", ...good.lcp.products.slice(1)] } }],
    ["/assigned/sums/0", { ...good, assigned: { ...good.assigned, sums: ["1e5", "0", "0", "0", "0"] } }],
    ["/assigned/sums/0", { ...good, assigned: { ...good.assigned, sums: ["9".repeat(41), "0", "0", "0", "0"] } }],
  ])("refuses %s", (pointer, json) => {
    const parsed = parse(readSums, json);
    expect(parsed.ok ? [] : parsed.faults.map((fault) => fault.pointer)).toContain(pointer);
  });
});

describe("moments", () => {
  it("have the product of each two terms, in either order", () => {
    const moments = combined(momentsOf([2, 3, 5]), momentsOf([7, 11, 13]));
    const expected = (i: number, j: number): number =>
      ([2, 3, 5][i] ?? 0) * ([2, 3, 5][j] ?? 0) + ([7, 11, 13][i] ?? 0) * ([7, 11, 13][j] ?? 0);
    for (const i of [0, 1, 2]) for (const j of [0, 1, 2]) expect(productOf(moments, i, j)).toBe(BigInt(expected(i, j)));
  });

  it("are exact beyond 2^53", () => {
    let moments = noMoments(1);
    for (let client = 0; client < 10; client++) moments = combined(moments, momentsOf([2 ** 31 + 1]));
    expect(productOf(moments, 0, 0)).toBe(10n * (2n ** 31n + 1n) ** 2n);
  });
});

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
