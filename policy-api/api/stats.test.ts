import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { HOUR_MS } from "./counters/counted.ts";
import type { Stats } from "./contract/deployment.ts";
import { callApi, faultsOf, type Reply, type TestPorts, testPorts, TOKENS } from "./testing.ts";

const HOUR = 490_000;
let ports: TestPorts;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: HOUR * HOUR_MS + 1_000 });
  ports = await testPorts();
});
afterEach(() => {
  vi.useRealTimers();
});
const get = async (resource: string): Promise<Reply> => callApi(ports, "GET", resource, { token: TOKENS.read });

const DECIDED = "decisions|h3-faster|h3|policy|tcp|no";
const COUNT = {
  counter: "decisions",
  labels: { reason: "h3-faster", answer: "h3", arm: "policy", transport: "tcp", late: "no" },
};

describe("GET stats", () => {
  it("has the totals, and the hours that are asked for", async () => {
    ports.counters.tally = {
      sinceHour: HOUR - 30,
      totals: { [DECIDED]: 9, undecided: 1 },
      hours: [{ hour: HOUR, counted: { [DECIDED]: 4 } }],
    };
    ports.counters.objects = { asked: 10, answered: 9 };
    const stats = (await get("stats")).json as unknown as Stats;
    expect(stats).toEqual({
      since: new Date((HOUR - 30) * HOUR_MS).toISOString(),
      objects: { asked: 10, answered: 9 },
      totals: [
        { ...COUNT, count: 9 },
        { counter: "undecided", labels: {}, count: 1 },
      ],
      hours: [{ at: new Date(HOUR * HOUR_MS).toISOString(), counts: [{ ...COUNT, count: 4 }] }],
    });
    await get("stats?hours=1");
    expect(ports.counters.asked).toEqual([HOUR - 23, HOUR]);
  });

  it("says that nothing was counted", async () => {
    expect((await get("stats")).json).toMatchObject({ since: null, totals: [], hours: [] });
  });

  it.each(["hours=0", "hours=745", "hours=x", "hours=", "day=1"])("refuses %s", async (query) => {
    const reply = await get(`stats?${query}`);
    expect(reply.status).toBe(400);
    expect(faultsOf(reply)[0]).toMatch(/^\/query\//);
  });
});

it("GET stats/store says how much is kept, and in how many objects", async () => {
  expect((await get("stats/store")).json).toEqual({
    objects: { asked: 1, answered: 0, holding: 0 },
    rows: 0,
    oldest: null,
    bytes: 0,
  });
  ports.counters.parts = [
    { rows: 5, oldestAtMs: HOUR * HOUR_MS - 9_000, bytes: 40_960 },
    { rows: 0, oldestAtMs: undefined, bytes: 0 },
    { rows: 2, oldestAtMs: HOUR * HOUR_MS - 7_000, bytes: 20_480 },
  ];
  expect((await get("stats/store")).json).toEqual({
    objects: { asked: 4, answered: 3, holding: 2 },
    rows: 7,
    oldest: new Date(HOUR * HOUR_MS - 9_000).toISOString(),
    bytes: 61_440,
  });
});

describe("GET metrics", () => {
  it("has the totals as Prometheus reads them, and what is in force", async () => {
    ports.counters.tally = { sinceHour: HOUR, totals: { [DECIDED]: 9 }, hours: [] };
    const { status, text, headers } = await get("metrics");
    expect([status, headers.get("content-type")]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
    const lines = text.split("\n");
    expect(lines).toContain(
      'adaptive_h3_decisions_total{reason="h3-faster",answer="h3",arm="policy",transport="tcp",late="no"} 9',
    );
    expect(lines).toContain('adaptive_h3_version_share{version="1",stage="everyone"} 1');
    expect(lines).toContain("adaptive_h3_kill_switch 0");
    expect(lines).toContain("adaptive_h3_store_writable 1");
  });

  it("tells stages and the kill switch, and that the store is gone", async () => {
    await ports.store.change(
      { kind: "put", everyone: 1, stages: [{ version: 0, share: 0.05 }] },
      { author: "a", note: null, ifMatch: "*" },
    );
    ports.killed = { kind: "clear", author: "a", note: null };
    const lines = (await get("metrics")).text.split("\n");
    expect(lines).toContain('adaptive_h3_version_share{version="0",stage="1"} 0.05');
    expect(lines).toContain("adaptive_h3_kill_switch 1");
    ports.store.gone = true;
    ports.takesWrites = false;
    const silent = (await get("metrics")).text;
    expect(silent).toContain("adaptive_h3_store_writable 0");
    expect(silent).not.toContain("version_share{");
  });

  it("tells no counter that would fall because a region is silent", async () => {
    ports.counters.tally = { sinceHour: HOUR, totals: { [DECIDED]: 9 }, hours: [] };
    ports.counters.objects = { asked: 10, answered: 9 };
    const { text } = await get("metrics");
    expect(text).not.toContain("adaptive_h3_decisions_total{");
    expect(text).toContain('adaptive_h3_store_regions{answered="no"} 1');
    expect(text).toContain("adaptive_h3_kill_switch 0");
  });
});
