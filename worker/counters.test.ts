import { beforeEach, describe, expect, it } from "vitest";
import type { Delta } from "../policy-api/api/counters/counted.ts";
import { keyOf } from "../policy-api/api/counters/families.ts";
import { Counters } from "./counters.ts";
import { Counts } from "./counts.ts";
import type { Region } from "./region.ts";

const TAKEN = keyOf("offers", { fate: "taken" });
const EVERY_MS = 20_000;
const BEGAN_MS = 1e12;
let told: Delta[];
let regions: Region[];
let isDown: boolean;
let counters: Counters;
beforeEach(() => {
  told = [];
  regions = [];
  isDown = false;
  counters = new Counters(EVERY_MS);
});
const tell = async (region: Region, delta: Delta): Promise<void> => {
  regions.push(region);
  if (isDown) throw new Error("the store is gone");
  told.push(delta);
};
const take = (times = 1): void => {
  for (let i = 0; i < times; i++) counters.add("offers", { fate: "taken" });
};

describe("an isolate's counters", () => {
  it("are told once, each time under a new number", async () => {
    take(3);
    await counters.tell(tell, "weur", BEGAN_MS);
    await counters.tell(tell, "weur", BEGAN_MS);
    take();
    await counters.tell(tell, "weur", BEGAN_MS);
    expect(told.map(({ number, counted }) => [number, counted])).toEqual([
      [1, { [TAKEN]: 3 }],
      [2, { [TAKEN]: 1 }],
    ]);
    expect(new Set(told.map(({ isolate }) => isolate)).size).toBe(1);
    const other = new Counters(EVERY_MS);
    other.add("offers", { fate: "taken" });
    await other.tell(tell, "weur", BEGAN_MS);
    expect(told.at(-1)?.isolate).not.toBe(told[0]?.isolate);
  });

  it("are told again as they were where the store did not answer, and what came since after them", async () => {
    take(2);
    const seen: Delta[] = [];
    await counters.tell(
      async (_region, delta) => {
        seen.push(delta);
        throw new Error("lost on the way back");
      },
      "apac",
      BEGAN_MS,
    );
    take(5);
    isDown = true;
    await counters.tell(tell, "weur", BEGAN_MS);
    isDown = false;
    await counters.tell(tell, "weur", BEGAN_MS);
    await counters.tell(tell, "weur", BEGAN_MS);
    expect(told[0]).toEqual(seen[0]);
    // The object that may have it already: only that one knows its number.
    expect(regions).toEqual(["apac", "apac", "weur"]);
    expect(told.map(({ number, counted }) => [number, counted[TAKEN]])).toEqual([
      [1, 2],
      [2, 5],
    ]);
  });

  it("are all told before somebody reads them, also where a page's telling is under way", async () => {
    const answer = Promise.withResolvers<void>();
    take(1);
    const page = counters.tell(async () => answer.promise, "apac", BEGAN_MS);
    take(7);
    await counters.tellAll(tell, "weur", BEGAN_MS);
    // The store knows the number, and counts what it is told twice once.
    expect(told.map(({ number, counted }) => [number, counted[TAKEN]])).toEqual([
      [1, 1],
      [2, 7],
    ]);
    expect(regions).toEqual(["apac", "weur"]);
    answer.resolve();
    await page;
    await counters.tellAll(tell, "weur", BEGAN_MS);
    expect(told).toHaveLength(2);
  });

  it("are asked to be told once where the store does not answer", async () => {
    take();
    isDown = true;
    await counters.tell(tell, "apac", BEGAN_MS);
    await counters.tellAll(tell, "weur", BEGAN_MS);
    expect(regions).toEqual(["apac", "apac"]);
  });

  it("are told at once, and then every twenty seconds, by one request", async () => {
    expect(counters.due(BEGAN_MS)).toBe(0);
    expect(counters.due(BEGAN_MS + 1)).toBeUndefined();
    await counters.tell(tell, "weur", BEGAN_MS);
    expect(counters.due(BEGAN_MS + 5_000)).toBe(15_000);
    expect(counters.due(BEGAN_MS + 6_000)).toBeUndefined();
    // The request that had promised it is gone.
    expect(counters.due(BEGAN_MS + 31_000)).toBe(0);
  });

  it("are told after the clock was set back", async () => {
    await counters.tell(tell, "weur", BEGAN_MS);
    expect(counters.due(BEGAN_MS - 1e9)).toBe(0);
  });

  it("take what is counted elsewhere along, once", async () => {
    const counts = new Counts<string>();
    const taking = new Counters(EVERY_MS, [{ counts, key: () => TAKEN }]);
    counts.add("a", 2);
    await taking.tell(tell, "weur", BEGAN_MS);
    counts.add("a", 3);
    await taking.tell(tell, "weur", BEGAN_MS);
    await taking.tell(tell, "weur", BEGAN_MS);
    expect(told.map(({ counted }) => counted[TAKEN])).toEqual([2, 3]);
  });
});
