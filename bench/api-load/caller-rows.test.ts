import { describe, expect, it } from "vitest";
import { callerRows } from "./caller-rows.ts";
import { CALLER_SETUPS, CALLERS, type CallSample, type CallSamples } from "./mix.ts";

const WINDOW = { beganMs: 1_000, seconds: 2, round: 3, startedMs: 500 };

function samples(given: Partial<CallSamples>): CallSamples {
  return { ...(Object.fromEntries(CALLERS.map((caller) => [caller, []])) as unknown as CallSamples), ...given };
}

describe("callerRows", () => {
  it("counts what was due in the seconds that count, by when it was due and not by when it was answered", () => {
    const explain: CallSample[] = [
      [999, 1, true],
      [1_000, 10, true],
      [2_999, 5_000, true],
      [3_000, 1, true],
    ];
    const row = callerRows(samples({ explain }), WINDOW).find(({ subject }) => subject === "caller explain");
    expect(row).toMatchObject({
      id: "open/caller explain/3",
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
    const row = callerRows(samples({ read }), WINDOW).find(({ subject }) => subject === "caller read");
    expect(row).toMatchObject({ answers: 2, failures: 1, latencyMedianMs: 15 });
    expect(row?.latencyP99Ms).toBeCloseTo(19.9);
  });

  it("has a row for each kind of caller, with no latency where nobody was answered", () => {
    const rows = callerRows(samples({}), WINDOW);
    expect(rows.map(({ subject }) => subject)).toEqual(CALLERS.map((caller) => `caller ${caller}`));
    for (const row of rows) expect(row).toMatchObject({ answers: 0, failures: 0, latencyMedianMs: null });
  });
});
