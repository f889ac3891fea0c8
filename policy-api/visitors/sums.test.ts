import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ClientDay } from "./client-day.ts";
import { combined, momentsOf, noMoments, productOf, replacedIn } from "./moments.ts";
import { add, merge, NO_SUMS, parseSums, remove, replace, replaceAll, sumsJson } from "./sums.ts";
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

  it("lose nothing when a row is taken out and put back as it grows", () => {
    fc.assert(
      fc.property(anyDays, anyDay, anyDay, (days, before, after) => {
        const sums = sumOf(days);
        expect(remove(add(sums, before), before)).toEqual(sums);
        expect(replace(add(sums, before), before, after)).toEqual(add(sums, after));
      }),
    );
  });

  it("are the same if rows are replaced all at once", () => {
    fc.assert(
      fc.property(anyDays, fc.array(fc.tuple(anyDay, anyDay), { maxLength: 12 }), (days, pairs) => {
        const clients = pairs.map(([before, after]) => ({ before, after }));
        const sums = clients.reduce((sum, { before }) => add(sum, before), sumOf(days));
        const expected = clients.reduce((sum, { before, after }) => replace(sum, before, after), sums);
        expect(replaceAll(sums, clients)).toEqual(expected);
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
        expect(parseSums(JSON.parse(JSON.stringify(sumsJson(sums))))).toEqual({ ok: true, value: sums });
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
    expect(add(NO_SUMS, clientDay([]))).toEqual(NO_SUMS);
  });
});

describe("parseSums", () => {
  const good = sumsJson(sumOf(drawnDays({ clients: 5 })));
  it.each([
    ["/load/clients", { ...good, load: { ...good.load, clients: "-1" } }],
    ["/load/clients", { ...good, load: { ...good.load, clients: 5 } }],
    ["/load/clients", { ...good, load: { ...good.load, clients: "5.0" } }],
    ["/load/sums", { ...good, load: { ...good.load, sums: ["1"] } }],
    ["/lcp/products", { ...good, lcp: { ...good.lcp, products: ["-4", ...good.lcp.products.slice(1)] } }],
    ["/assigned/sums/0", { ...good, assigned: { ...good.assigned, sums: ["1e5", "0", "0", "0", "0"] } }],
    ["/assigned/sums/0", { ...good, assigned: { ...good.assigned, sums: ["9".repeat(41), "0", "0", "0", "0"] } }],
  ])("refuses %s", (pointer, json) => {
    const parsed = parseSums(json);
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

  it("are exact for more rows at once, and larger ones, than a number is exact for", () => {
    const none = [0, 0];
    const small = Array.from({ length: 5_000 }, (_, i) => ({ before: none, after: [2 ** 20 - 1, i - 2 ** 20 + 1] }));
    const large = [2 ** 20, 2 ** 30 + 1, 2 ** 52 + 1].map((term) => ({ before: [7, -3], after: [term, 3] }));
    const clients = [...small.slice(0, 3_000), ...large, ...small.slice(3_000)];
    const expected = clients.reduce(
      (sum, { before, after }) => combined(combined(sum, momentsOf(before), -1n), momentsOf(after)),
      noMoments(2),
    );
    expect(replacedIn(noMoments(2), clients)).toEqual(expected);
  });

  it("are exact beyond 2^53", () => {
    let moments = noMoments(1);
    for (let client = 0; client < 10; client++) moments = combined(moments, momentsOf([2 ** 31 + 1]));
    expect(productOf(moments, 0, 0)).toBe(10n * (2n ** 31n + 1n) ** 2n);
  });
});
