import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { HOUR_MS, HOURS_KEPT } from "../policy-api/api/counters/counted.ts";
import { bindings, freshStorage } from "./testing.ts";

freshStorage();
/** Ahead of the runtime's own clock, so that no alarm rings by itself. */
const BEGAN_MS = 520_000 * HOUR_MS;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: BEGAN_MS });
});
afterEach(() => {
  vi.useRealTimers();
});

const TAKEN = "offers|taken";
const object = () => bindings.COUNTERS.get(bindings.COUNTERS.idFromName("local"));
const taken = (count: number) => ({ [TAKEN]: count });
const add = async (number: number, count: number, isolate = "one"): Promise<void> =>
  object().add({ isolate, number, counted: taken(count) });
const total = async (): Promise<number> => (await object().read(0)).totals[TAKEN] ?? 0;
const rows = async (): Promise<number> =>
  runInDurableObject(object(), (_, { storage }) =>
    storage.sql.exec<{ n: number }>("SELECT count(*) AS n FROM hours").one(),
  ).then(({ n }) => n);

describe("a store of counters", () => {
  it("adds up what isolates tell, and writes no table for who only reads", async () => {
    expect(await object().read(0)).toEqual({ sinceHour: undefined, totals: {}, hours: [] });
    const tables = await runInDurableObject(object(), (_, { storage }) =>
      storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'hours'").toArray(),
    );
    expect(tables).toEqual([]);
    await add(1, 2);
    await add(1, 3, "other");
    await add(2, 4);
    expect(await object().read(0)).toEqual({
      sinceHour: 520_000,
      totals: taken(9),
      hours: [{ hour: 520_000, counted: taken(9) }],
    });
  });

  it("counts once what is told again, also in the next hour and after its own end", async () => {
    await add(1, 2);
    await add(1, 2);
    expect(await total()).toBe(2);
    vi.setSystemTime(BEGAN_MS + HOUR_MS);
    await add(1, 2);
    expect(await total()).toBe(2);
    await add(2, 5);
    vi.setSystemTime(BEGAN_MS + HOUR_MS + 30_000);
    await add(3, 1);
    await evictDurableObject(object());
    await add(3, 1);
    expect(await total()).toBe(8);
  });

  it("writes at once, and then at most every eight seconds", async () => {
    await add(1, 1);
    await add(2, 1);
    await evictDurableObject(object());
    // What waited is gone with its memory: too little, and never too much.
    expect(await total()).toBe(1);
    await add(2, 1);
    await add(2, 1);
    // What was told is on disk.
    expect(await total()).toBe(2);
    await evictDurableObject(object());
    expect(await total()).toBe(2);
    await add(3, 1);
    vi.setSystemTime(BEGAN_MS + 2_000);
    await add(4, 1);
    expect(await runDurableObjectAlarm(object())).toBe(true);
    await evictDurableObject(object());
    expect(await total()).toBe(4);
  });

  it("keeps hours for 31 days, and their sum for ever", async () => {
    for (const hour of [0, 1, HOURS_KEPT, HOURS_KEPT + 1]) {
      vi.setSystemTime(BEGAN_MS + hour * HOUR_MS);
      await add(hour + 1, 10 + hour);
    }
    const { sinceHour, totals, hours } = await object().read(0);
    expect([sinceHour, totals[TAKEN]]).toEqual([520_000, 10 + 11 + 754 + 755]);
    expect(hours.map(({ hour }) => hour - 520_000)).toEqual([HOURS_KEPT, HOURS_KEPT + 1]);
    await runDurableObjectAlarm(object());
    expect(await rows()).toBe(2);
    await evictDurableObject(object());
    expect(await total()).toBe(10 + 11 + 754 + 755);
  });

  it("goes on with its hour where the clock was set back a little", async () => {
    await add(1, 1);
    vi.setSystemTime(BEGAN_MS - 1);
    await add(2, 1);
    expect((await object().read(0)).hours).toEqual([{ hour: 520_000, counted: taken(2) }]);
  });

  it("loses nothing to a clock that was far ahead for a while", async () => {
    await add(1, 1);
    vi.setSystemTime(BEGAN_MS + 100 * HOUR_MS);
    await add(2, 2);
    vi.setSystemTime(BEGAN_MS);
    await add(2, 2);
    await add(3, 4);
    const { sinceHour, totals, hours } = await object().read(0);
    expect([sinceHour, totals, hours.at(-1)]).toEqual([520_000, taken(7), { hour: 520_000, counted: taken(4) }]);
    await evictDurableObject(object());
    expect(await total()).toBe(7);
  });

  it("keeps who told in the last row alone, and no hour in which nothing was counted", async () => {
    for (const hour of [0, 1, 2]) {
      vi.setSystemTime(BEGAN_MS + hour * HOUR_MS);
      if (hour === 1) await object().read(0);
      else await add(hour + 1, 1);
    }
    const { hours } = await object().read(0);
    const stored = await runInDurableObject(object(), (_, { storage }) =>
      storage.sql.exec("SELECT hour - 520000 AS hour, numbers, before FROM hours ORDER BY hour").toArray(),
    );
    expect(stored).toEqual([
      { hour: 0, numbers: "{}", before: "{}" },
      { hour: 1, numbers: "{}", before: "{}" },
      { hour: 2, numbers: '{"one":3}', before: `{"${TAKEN}":1}` },
    ]);
    expect(hours.map(({ hour }) => hour - 520_000)).toEqual([0, 2]);
  });

  it("keeps what another release counts", async () => {
    await object().add({ isolate: "newer", number: 1, counted: { "things|of-tomorrow": 3 } });
    await evictDurableObject(object());
    expect((await object().read(0)).totals).toEqual({ "things|of-tomorrow": 3 });
  });

  it("reads a damaged row as nothing", async () => {
    await add(1, 4);
    await runInDurableObject(object(), (_, { storage }) =>
      storage.sql.exec("UPDATE hours SET counted = '[1', numbers = '[1'"),
    );
    await evictDurableObject(object());
    expect(await total()).toBe(0);
    await add(1, 5);
    expect(await total()).toBe(5);
  });
});
