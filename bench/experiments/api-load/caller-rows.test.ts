import { describe, expect, it } from "vitest";
import { callerRows } from "./caller-rows.ts";
import { CALLER_SETUPS, type CallSample } from "./mix.ts";

const WINDOW = { beside: "pages-under-api", beganMs: 1_000, seconds: 2, round: 3, startedMs: 500 } as const;

describe("callerRows", () => {
  it("counts what was due in the seconds that count, by when it was due and not by when it was answered", () => {
    const explain: CallSample[] = [
      [999, 1, true],
      [1_000, 10, true],
      [2_999, 5_000, true],
      [3_000, 1, true],
    ];
    const row = callerRows({ explain }, WINDOW).find(({ subject }) => subject === "explain beside pages-under-api");
    expect(row).toMatchObject({
      id: "open/explain beside pages-under-api/3",
      answers: 2,
      failures: 0,
      requestsPerSecond: 1,
      latencyMedianMs: 2_505,
      rate: CALLER_SETUPS.explain.rate,
    });
  });

  it("leaves what failed out of the latencies, and counts it", () => {
    const read: CallSample[] = [
      [1_100, 10, true],
      [1_200, 20, true],
      [1_300, 90_000, false],
    ];
    const row = callerRows({ read }, WINDOW).find(({ subject }) => subject === "read beside pages-under-api");
    expect(row).toMatchObject({ answers: 2, failures: 1, latencyMedianMs: 15 });
    expect(row?.latencyP99Ms).toBeCloseTo(19.9);
  });

  it("has a row for each kind of caller that was there, with no latency where nobody was answered", () => {
    const rows = callerRows({ read: [], plain: [] }, { ...WINDOW, beside: "pages-under-requests" });
    expect(rows.map(({ subject }) => subject)).toEqual([
      "read beside pages-under-requests",
      "plain beside pages-under-requests",
    ]);
    for (const row of rows) expect(row).toMatchObject({ answers: 0, failures: 0, latencyMedianMs: null });
  });
});
