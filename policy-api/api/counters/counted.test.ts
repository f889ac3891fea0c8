import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countsBy, type Counted, HOUR_MS, merged, NO_TALLY, sumOf } from "./counted.ts";

const TAKEN = "offers|taken";
const IGNORED = "offers|ignored";
const part = fc.record({ [TAKEN]: fc.integer({ min: 1, max: 1e6 }), [IGNORED]: fc.integer({ min: 1, max: 1e6 }) });

describe("sumOf", () => {
  it("adds up, in any order and in any groups", () => {
    fc.assert(
      fc.property(fc.array(part), fc.array(part), (some, more) => {
        const whole = sumOf([...some, ...more]);
        expect(sumOf([...more, ...some])).toEqual(whole);
        expect(sumOf([sumOf(some), sumOf(more)])).toEqual(whole);
      }),
    );
  });

  it("leaves out what is no count, and what is no key", () => {
    const strange = { [TAKEN]: 2, [IGNORED]: -1, "": 5, "a b": 5, "offers|": 3, "<b>": 1 };
    expect(sumOf([strange, { [TAKEN]: 0.5 }, { [IGNORED]: "9" } as unknown as Counted])).toEqual({ [TAKEN]: 2 });
  });

  it("keeps the keys of other releases, and not more than a release could have", () => {
    expect(sumOf([{ "offers|given": 3, things: 1 }, { "offers|given": 1 }])).toEqual({ "offers|given": 4, things: 1 });
    const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`things|${i}`, 1]));
    expect(Object.keys(sumOf([{ [TAKEN]: 1 }, many, { [TAKEN]: 1 }]))).toHaveLength(2_000);
  });
});

it("merges what several stores hold", () => {
  const one = { sinceHour: 7, totals: { [TAKEN]: 5 }, hours: [{ hour: 9, counted: { [TAKEN]: 2 } }] };
  const other = {
    sinceHour: 4,
    totals: { [TAKEN]: 1, [IGNORED]: 1 },
    hours: [
      { hour: 8, counted: { [IGNORED]: 1 } },
      { hour: 9, counted: { [TAKEN]: 1 } },
    ],
  };
  expect(merged([one, NO_TALLY, other])).toEqual({
    sinceHour: 4,
    totals: { [TAKEN]: 6, [IGNORED]: 1 },
    hours: [
      { hour: 8, counted: { [IGNORED]: 1 } },
      { hour: 9, counted: { [TAKEN]: 3 } },
    ],
  });
  expect(merged([])).toEqual(NO_TALLY);
});

it("counts by the values of a label", () => {
  const counted = { "origin|served": 3, "origin|error": 1, [TAKEN]: 2 };
  expect([...countsBy(counted, "origin", "answer")]).toEqual([
    ["served", 3],
    ["error", 1],
  ]);
  expect(HOUR_MS).toBe(3_600_000);
});
