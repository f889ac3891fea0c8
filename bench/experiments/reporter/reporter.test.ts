import { describe, expect, it } from "vitest";
import { exampleStart } from "../../harness/loads/testing.ts";
import { reportText } from "../../harness/results.ts";
import { isFree, pairedRatio, reporterReport, reporterSummary } from "./findings.ts";
import { rowOf, type Seen } from "./measure.ts";
import { missingVisits, pagesOf, placesOf, type ReporterRow, type Visit } from "./settings.ts";

const PLACES = placesOf({ quick: true, only: undefined });
it("asks one question alone, if that is wanted", () => {
  const kinds = (only: "truth" | "price" | undefined): Set<boolean> =>
    new Set(placesOf({ quick: false, only }).map(({ waits }) => waits));
  expect([kinds("truth"), kinds("price"), kinds(undefined)]).toEqual([
    new Set([true]),
    new Set([false]),
    new Set([true, false]),
  ]);
});

const counted = { up: 100, down: 980, late: 5, droppedLoss: 18, droppedQueue: 2 };
const navigated = { outcome: "ok", loadMs: 500, documentProtocol: "h2", resourceBytes: 1_900_000 } as const;

function body(sent: number, lost: number, loadMs: number): string {
  const l4 = `?proto=TCP&rtt=30000&min_rtt=30000&sent=${sent}&lost=${lost}&sent_bytes=1&delivery_rate=1&cid=a1`;
  const connections = [{ l4, agoMs: 5_000 }];
  const times = { connectMs: 60, ttfbMs: 100, loadMs, lcpMs: 400, atMs: 5_500 };
  return JSON.stringify({
    token: "t",
    protocol: "h2",
    ...times,
    files: [{ protocol: "h2", count: 15, bytes: 1 }],
    connections,
  });
}

/** Each visit's pages as `seen` has them. */
function rows(seen: (visit: Visit, page: number) => Partial<Seen>): ReporterRow[] {
  return missingVisits(
    PLACES.map((place) => ({ ...place, visits: 4 })),
    [],
  ).flatMap((visit) =>
    Array.from({ length: pagesOf(visit.place) }, (_, i) =>
      rowOf(visit, i + 1, {
        startedMs: 1e12,
        navigated,
        clockMs: 510,
        busyRatio: 0.2,
        longestTaskMs: 0,
        counted,
        body: undefined,
        ...seen(visit, i + 1),
      }),
    ),
  );
}
const summaryOf = (all: readonly ReporterRow[]) =>
  reporterSummary({ rows: all, command: "npm run bench -- reporter", starts: [exampleStart()] }, PLACES);

describe("missingVisits", () => {
  it("has both kinds of a pair in each round, in turns, and goes on where the rows end", () => {
    const all = missingVisits(PLACES, []);
    const again = missingVisits(
      PLACES.map((place) => ({ ...place, visits: 2 })),
      [],
    ).filter(({ place, protocol }) => !place.waits && protocol === "h2");
    expect(again.map(({ asked }) => asked)).toEqual(["plain", "reporting", "reporting", "plain"]);
    const made = all.slice(0, 2).map(({ id, place }) => ({ id: `${id}/${pagesOf(place)}` }));
    expect(missingVisits(PLACES, made)).toEqual(all.slice(2));
  });
});

describe("what reports say", () => {
  const lossOf = (lost: number) =>
    summaryOf(rows((_visit, page) => ({ body: body(1_000 * page, lost * page, 500) }))).told;

  it.each([
    [20, true],
    [5, false],
    [60, false],
  ])("with %i of 1,000 lost, where the path dropped 20: %s", (lost, isTrue) => {
    for (const { isLossTrue, connections, reported } of lossOf(lost)) {
      expect([isLossTrue, connections, reported.n]).toEqual([isTrue, 4, 8_000]);
    }
  });

  it("compares reported times with the clock", () => {
    const { told } = summaryOf(rows(() => ({ body: body(1_000, 20, 561), clockMs: 510 })));
    for (const { clock } of told) expect(clock).toBeCloseTo(1.1);
  });

  it("says nothing of pages without a report", () => {
    const { told } = summaryOf(rows(() => ({})));
    expect(told.map(({ reports, connections, isLossTrue }) => [reports, connections, isLossTrue])).toEqual(
      told.map(() => [0, 0, undefined]),
    );
  });

  it("refuses a report that the worker would not take", () => {
    expect(() => rows(() => ({ body: JSON.stringify({ token: 1 }) }))).toThrow(/faults/);
  });
});

describe("the price", () => {
  it.each([
    ["nothing", 1, true],
    ["three percent", 1.03, false],
  ])("%s", (_name, factor, free) => {
    const { prices } = summaryOf(
      rows(({ asked, visit }) => ({
        navigated: { ...navigated, loadMs: (500 + (visit % 2)) * (asked === "reporting" ? factor : 1) },
      })),
    );
    expect(prices.map(isFree)).toEqual(prices.map(() => free));
    expect(prices.map(({ pairs }) => pairs)).toEqual(prices.map(() => 4));
  });

  it("is not said to be nothing where it is not known well", () => {
    expect(isFree({ price: { estimate: 1, low: 0.9, high: 1.1 } })).toBe(false);
    expect(pairedRatio([[1, 1]])).toBeUndefined();
  });

  it("is the geometric mean of pairs", () => {
    const ratio = pairedRatio([
      [2, 1],
      [1, 2],
    ]);
    expect(ratio?.estimate).toBeCloseTo(1);
  });
});

it("reports a run that asked one question alone", () => {
  const whole = summaryOf(rows((_visit, page) => ({ body: body(1_000 * page, 0, 500) })));
  expect(reportText("reporter", reporterReport({ ...whole, told: [] }))).not.toContain("## Is it true?");
  expect(reportText("reporter", reporterReport({ ...whole, prices: [] }))).not.toContain("## What does it cost?");
});

it("reports each place", () => {
  const report = reporterReport(summaryOf(rows((_visit, page) => ({ body: body(1_000 * page, 0, 500) }))));
  const text = reportText("reporter", report);
  for (const { network } of PLACES) expect(text).toContain(network.name);
  expect(text).toContain("**no**");
  expect(text).not.toMatch(/NaN|undefined/);
});
