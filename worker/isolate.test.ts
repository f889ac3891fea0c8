import { afterEach, describe, expect, it, vi } from "vitest";
import { sample } from "../policy-api/decision/testing.ts";
import { Isolate } from "./isolate.ts";
import { GATHER_MS } from "./report-buffer.ts";
import { fails, FakeStores, mode, SETTINGS } from "./testing.ts";

const CLIENT = { keys: { client: "c", network: "n" }, object: { name: "local:0", region: "local" } } as const;
const T = 1_000_000;

afterEach(() => vi.unstubAllGlobals());

/** Waits end at once. @returns how long each was to be */
function withoutWaits(): number[] {
  const waits: number[] = [];
  vi.stubGlobal("scheduler", { wait: async (ms: number) => void waits.push(ms) });
  return waits;
}

describe("news that an object did not take", () => {
  it("is told once more, though nothing else happens", async () => {
    const waits = withoutWaits();
    const [isolate, stores] = [new Isolate(SETTINGS), new FakeStores(mode("observe"))];
    stores.taken = () => {
      stores.taken = async () => undefined;
      return fails();
    };
    await isolate.report(stores, CLIENT, { sample: sample({ atMs: T }) }, T);
    expect(waits).toEqual([GATHER_MS]);
    expect(stores.records.map((reports) => reports.map(({ samples }) => samples.map(({ atMs }) => atMs)))).toEqual([
      [[T]],
      [[T]],
    ]);
    expect(isolate.reports.pending("local:0", "c").samples).toEqual([]);
  });

  it("waits for further news if the object fails again", async () => {
    const waits = withoutWaits();
    const [isolate, stores] = [new Isolate(SETTINGS), new FakeStores(mode("observe"))];
    stores.taken = fails;
    await isolate.report(stores, CLIENT, { sample: sample({ atMs: T }) }, T);
    expect([stores.records.length, waits]).toEqual([2, [GATHER_MS]]);
    stores.taken = async () => undefined;
    await isolate.report(stores, CLIENT, { sample: sample({ atMs: T + 1, connectionId: "c2" }) }, T + 3 * GATHER_MS);
    expect(stores.records.at(-1)?.[0]?.samples).toHaveLength(2);
  });

  it("is told by whoever promised a flush meanwhile", async () => {
    withoutWaits();
    const [isolate, stores] = [new Isolate(SETTINGS), new FakeStores(mode("observe"))];
    stores.taken = async () => {
      stores.taken = async () => undefined;
      // While the object has the first news, the second comes.
      isolate.reports.add("local:0", CLIENT.keys, { sample: sample({ atMs: T + 1 }) }, T + 1);
      return fails();
    };
    await isolate.report(stores, CLIENT, { sample: sample({ atMs: T }) }, T);
    expect(stores.records).toHaveLength(1);
  });
});
