import { expect, it } from "vitest";
import { CALLERS, type CallSample } from "./mix.ts";
import { callerRows } from "./start-callers.ts";

const COUNTED = { subject: "pages-under-api", beganMs: 1_000, seconds: 2, round: 3, startedMs: 500 } as const;

it("counts what was due in the seconds that count, by when it was due and not by when it was answered", () => {
  const explain: CallSample[] = [
    [999, 1, true],
    [1_000, 10, true],
    [2_999, 5_000, true],
    [3_000, 1, true],
  ];
  expect(callerRows({ explain }, COUNTED)).toMatchObject([
    {
      id: "open/explain beside pages-under-api/3",
      subject: "explain beside pages-under-api",
      answers: 2,
      failures: 0,
      requestsPerSecond: 1,
      latencyMedianMs: 2_505,
      rate: CALLERS.explain.rate,
    },
  ]);
});

it("leaves what failed out of the latencies, and counts it", () => {
  const read: CallSample[] = [
    [1_100, 10, true],
    [1_200, 20, true],
    [1_300, 90_000, false],
  ];
  const [row] = callerRows({ read }, COUNTED);
  expect(row).toMatchObject({ answers: 2, failures: 1, latencyMedianMs: 15 });
  expect(row?.latencyP99Ms).toBeCloseTo(19.9);
});

it("has a row for each kind of caller that was there, with no latency where nobody was answered", () => {
  const rows = callerRows({ read: [], plain: [] }, { ...COUNTED, subject: "pages-under-requests" });
  expect(rows.map(({ subject }) => subject)).toEqual([
    "read beside pages-under-requests",
    "plain beside pages-under-requests",
  ]);
  for (const row of rows) expect(row).toMatchObject({ answers: 0, failures: 0, latencyMedianMs: null });
});
