import { describe, expect, it } from "vitest";
import { readOptions } from "../../model/options.ts";
import { commonOptions } from "../../harness/run.ts";
import { experiment, measurements, openRate } from "./experiment.ts";
import { findResult, shortfalls, type Subject, SUBJECTS } from "./report.ts";
import { exampleRow, exampleRows, exampleSummary } from "./testing.ts";

const rowsOf = (rounds: number) => exampleRows(rounds, { "pass-through": 2, adaptive: 5 });
const named = (name: string): Subject => {
  const found = SUBJECTS.find((one) => one.name === name);
  if (found === undefined) throw new Error(name);
  return found;
};

describe("measurements", () => {
  const all = measurements(SUBJECTS, 4);

  it("has every subject once a round in each loop, closed loops first, and a size together", () => {
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    const rounds = all.map(({ round }) => round);
    expect(rounds).toEqual(rounds.toSorted((a, b) => a - b));
    for (const round of [0, 1, 2, 3]) {
      const loops = all.filter((one) => one.round === round).map(({ loop }) => loop);
      expect(loops.lastIndexOf("closed")).toBeLessThan(loops.indexOf("open"));
      const names = (loop: string) =>
        all.filter((one) => one.loop === loop && one.round === round).map(({ subject }) => subject.name);
      for (const loop of ["closed", "open"])
        expect(names(loop).toSorted()).toEqual(SUBJECTS.map(({ name }) => name).toSorted());
      expect(
        new Set(
          names("open")
            .slice(0, SUBJECTS.length / 2)
            .map((name) => name.split("/")[0]),
        ).size,
      ).toBe(1);
    }
  });

  it("keeps a round's order whatever the number of rounds, and has another for another round", () => {
    const few = measurements(SUBJECTS, 2).map(({ id }) => id);
    const more = measurements(SUBJECTS, 9).map(({ id }) => id);
    expect(more.filter((id) => few.includes(id))).toEqual(few);
    const orders = Array.from({ length: 9 }, (_, round) =>
      more.filter((id) => id.startsWith("open/") && id.endsWith(`/${round}`)).map((id) => id.replace(/\/\d$/, "")),
    );
    expect(new Set(orders.map((order) => order.join())).size).toBeGreaterThan(1);
  });
});

describe("openRate", () => {
  const closed = [
    ...[1_000, 5_000, 1_100].map((requestsPerSecond, round) =>
      exampleRow(named("small/bare"), { loop: "closed", round, requestsPerSecond }),
    ),
    ...[500, 10, 600].map((requestsPerSecond, round) =>
      exampleRow(named("small/adaptive"), { loop: "closed", round, requestsPerSecond }),
    ),
    exampleRow(named("large/bare"), { loop: "closed", requestsPerSecond: 5 }),
  ];

  it("is a share of the median of the slowest subject of the size", () => {
    expect(openRate(closed, "small")).toBe(300);
  });

  it("stays what it was once a row has it", () => {
    const open = exampleRow(named("small/pass-through"), { loop: "open", rate: 123 });
    expect(openRate([...closed, open], "small")).toBe(123);
    const other = exampleRow(named("large/bare"), { loop: "open", rate: 123 });
    expect(openRate([...closed, other], "small")).toBe(300);
  });
});

describe("summarizeLoopback", () => {
  const summary = exampleSummary(rowsOf(3), 3);

  it("takes ratios within a round, so that what slows a whole round changes none", () => {
    expect(findResult(summary, "open", "small/adaptive").figures.latencyMedianMs).toEqual({
      median: 10,
      low: 7.5,
      high: 12.5,
      ratio: { median: 5, low: 5, high: 5, interval: [5, 5] },
    });
    expect(findResult(summary, "closed", "small/pass-through").figures.requestsPerSecond?.ratio.median).toBe(0.5);
  });

  it("holds workerd's CPU against another subject where one is named", () => {
    expect(findResult(summary, "open", "small/adaptive").figures.workerdCpuUs?.ratio.median).toBe(2.5);
    expect(findResult(summary, "open", "small/bare").figures.workerdCpuUs).toBeUndefined();
  });

  it("says nothing of an open loop's requests per second: they were given", () => {
    const { figures, rate } = findResult(summary, "open", "small/pass-through");
    expect(figures.requestsPerSecond).toBeUndefined();
    expect(rate).toBe(500);
  });

  it("holds a page's price against other servers, with the CPU time of both servers", () => {
    const priceOf = (title: RegExp, beside: RegExp) =>
      summary.prices?.find((one) => one.group === "10 kB" && title.test(one.title) && beside.test(one.beside));
    // The example's factors, 5 and 2 and else 1; the edge's 100 us and workerd's 200 us grow with them.
    expect(priceOf(/njs/, /nginx/)).toMatchObject({ requestsPerSecond: { median: 1 }, latencyMedianMs: { median: 1 } });
    expect(priceOf(/`adaptive`/, /passes on/)?.serversCpuUs.open?.median).toBe(2.5);
    expect(priceOf(/`adaptive`/, /njs/)).toMatchObject({
      requestsPerSecond: { median: 0.2 },
      latencyMedianMs: { median: 5 },
      serversCpuUs: { closed: { median: 15 }, open: { median: 15 } },
    });
    expect(summary.prices).toHaveLength(2 * 6);
  });

  it("has no prices of a run without these servers, and without Caddy those of njs", () => {
    const without = (...arms: string[]) =>
      exampleSummary(
        rowsOf(3).filter(({ arm }) => !arms.includes(arm)),
        3,
      );
    expect(without("njs", "caddy")).not.toHaveProperty("prices");
    expect(without("caddy").prices).toHaveLength(2 * 4);
  });

  it("counts each measurement once: of rows that were written twice the last", () => {
    const first = rowsOf(3).map((row) => ({ ...row, failures: 7 }));
    expect(exampleSummary([...first, ...rowsOf(3)], 3)).toEqual(summary);
  });

  it("leaves out what was not measured, and rounds that are not asked for", () => {
    const rows = rowsOf(3).filter(({ id }) => !id.includes("small/adaptive"));
    expect(() => findResult(exampleSummary(rows, 3), "open", "small/adaptive")).toThrow("small/adaptive");
    expect(exampleSummary(rowsOf(3), 2)).toEqual(exampleSummary(rowsOf(2), 2));
  });

  it("knows no interval of a single round", () => {
    const single = exampleSummary(rowsOf(1), 1);
    expect(findResult(single, "open", "small/adaptive").figures.latencyMedianMs?.ratio.interval).toBeNull();
  });
});

it("says what falls short: failures, requests not made, late ones, other programs, servers that are not there, few rounds", () => {
  expect(shortfalls(exampleSummary(rowsOf(9), 9))).toEqual([]);
  const rows = rowsOf(5).map((row) => {
    return row.id.startsWith("open/small/adaptive")
      ? { ...row, failures: 1, dropped: 2, lateP99Ms: row.round + 4, foreignRatio: 0.2 }
      : row;
  });
  expect(shortfalls(exampleSummary(rows, 5, { nginx: null, njs: null, caddy: null }))).toEqual([
    "10 kB, open loop, this worker, a page under `adaptive`: 5 of 10 were not answered as they should be.",
    "10 kB, open loop, this worker, a page under `adaptive`: 10 requests were not made, as every client still waited.",
    "10 kB, open loop, this worker, a page under `adaptive`: in the worst round 1 % of the requests left more than 8.00 ms late (their latency counts it).",
    "10 kB, open loop, this worker, a page under `adaptive`: other programs used 20.0 % of the cores.",
    "nginx could not be had: there is nothing to hold the edge against.",
    "njs could not be had: nothing decides in nginx.",
    "Caddy could not be had: there is no other server in Go to hold the edge against.",
    "5 rounds are too few to go by: run it with more.",
  ]);
});

it.each([
  [["--rounds", "0"], "--rounds must be a whole number from 1 to 1000, not 0."],
  [["--rounds", "2.5"], "--rounds must be a whole number from 1 to 1000, not 2.5."],
  [["--seconds", "1e9"], "--seconds must be a whole number from 1 to 600, not 1e9."],
  [["--save"], "Known options:\n  --rounds N"],
])("%j is refused in words", (args, message) => {
  const options = { ...experiment.options, ...commonOptions("overhead") };
  expect(() => readOptions(args, options)).toThrow(message);
});
