import { beforeEach, describe, expect, it } from "vitest";
import type { Delta } from "../policy-api/api/counters/counted.ts";
import { keyOf } from "../policy-api/api/counters/families.ts";
import { Counters } from "./counters.ts";
import type { Region } from "./region.ts";

const TAKEN = keyOf("offers", { fate: "taken" });
const EVERY_MS = 20_000;
const BEGAN_MS = 1e12;
let sent: Delta[];
let regions: Region[];
let isDown: boolean;
let counters: Counters;
beforeEach(() => {
  sent = [];
  regions = [];
  isDown = false;
  counters = new Counters(EVERY_MS);
});
const send = async (region: Region, delta: Delta): Promise<void> => {
  regions.push(region);
  if (isDown) throw new Error("the store is gone");
  sent.push(delta);
};
const take = (times = 1): void => {
  for (let i = 0; i < times; i++) counters.add("offers", { fate: "taken" });
};

describe("an isolate's counters", () => {
  it("are sent once, each time under a new number", async () => {
    take(3);
    await counters.flush(send, "weur", BEGAN_MS);
    await counters.flush(send, "weur", BEGAN_MS);
    take();
    await counters.flush(send, "weur", BEGAN_MS);
    expect(sent.map(({ number, counted }) => [number, counted])).toEqual([
      [1, { [TAKEN]: 3 }],
      [2, { [TAKEN]: 1 }],
    ]);
    expect(new Set(sent.map(({ isolate }) => isolate)).size).toBe(1);
    const other = new Counters(EVERY_MS);
    other.add("offers", { fate: "taken" });
    await other.flush(send, "weur", BEGAN_MS);
    expect(sent.at(-1)?.isolate).not.toBe(sent[0]?.isolate);
  });

  it("are sent again as they were where the store did not answer, and what came since after them", async () => {
    take(2);
    const seen: Delta[] = [];
    await counters.flush(
      async (_region, delta) => {
        seen.push(delta);
        throw new Error("lost on the way back");
      },
      "apac",
      BEGAN_MS,
    );
    take(5);
    isDown = true;
    await counters.flush(send, "weur", BEGAN_MS);
    isDown = false;
    await counters.flush(send, "weur", BEGAN_MS);
    await counters.flush(send, "weur", BEGAN_MS);
    expect(sent[0]).toEqual(seen[0]);
    // The object that may have it already: only that one knows its number.
    expect(regions).toEqual(["apac", "apac", "weur"]);
    expect(sent.map(({ number, counted }) => [number, counted[TAKEN]])).toEqual([
      [1, 2],
      [2, 5],
    ]);
  });

  it("are all sent before somebody reads them, also where a page's flush is under way", async () => {
    const answer = Promise.withResolvers<void>();
    take(1);
    const page = counters.flush(async () => answer.promise, "apac", BEGAN_MS);
    take(7);
    await counters.flushAll(send, "weur", BEGAN_MS);
    // The store knows the number, and counts what it is sent twice once.
    expect(sent.map(({ number, counted }) => [number, counted[TAKEN]])).toEqual([
      [1, 1],
      [2, 7],
    ]);
    expect(regions).toEqual(["apac", "weur"]);
    answer.resolve();
    await page;
    await counters.flushAll(send, "weur", BEGAN_MS);
    expect(sent).toHaveLength(2);
  });

  it("are asked to be sent once where the store does not answer", async () => {
    take();
    isDown = true;
    await counters.flush(send, "apac", BEGAN_MS);
    await counters.flushAll(send, "weur", BEGAN_MS);
    expect(regions).toEqual(["apac", "apac"]);
  });

  it("are read as they are since the isolate began, whatever the store has", async () => {
    take(2);
    await counters.flush(send, "weur", BEGAN_MS);
    take(3);
    expect(counters.readBy("offers", "fate")).toEqual({ taken: 5 });
    expect(counters.readBy("origin", "answer")).toEqual({});
  });
});
