import { describe, expect, it } from "vitest";
import { exampleStart } from "../../harness/loads/testing.ts";
import { reportText } from "../../harness/run.ts";
import { missing } from "../../harness/missing.ts";
import { placesOf, rowsOf, visitsOf } from "./experiment.ts";
import { keeps, PAGES, policedReport, type PolicedRow, policedSummary } from "./report.ts";
import type { LoadResult } from "../../model/plan.ts";

const PLACES = placesOf(true);

/** What each visit's pages are, by arm. */
function rows(
  pages: (arm: PolicedRow["arm"], isPoliced: boolean) => readonly (readonly [ms: number, overH3: number])[],
): PolicedRow[] {
  return visitsOf(PLACES, 4).flatMap((visit) => {
    const own = pages(visit.arm, visit.place.isPoliced);
    const result = {
      startedMs: 1e12,
      outcome: "ok",
      error: "",
      pageMs: own.map(([ms]) => ms * (1 + visit.visit / 100)),
      filesH3: own.map(([, overH3]) => overH3),
      busyRatio: 0.3,
      lateRatio: 0,
    } as unknown as LoadResult;
    return rowsOf(visit, result);
  });
}
const summaryOf = (all: readonly PolicedRow[]) =>
  policedSummary({ rows: all, command: "npm run bench -- policed", starts: [exampleStart()] }, PLACES, 1);
const six = (page: readonly [number, number]) => Array.from({ length: PAGES }, () => page);

describe("visits", () => {
  it("has each place and arm once in a round, and goes on where the rows end", () => {
    const all = visitsOf(PLACES, 2);
    expect(all).toHaveLength(2 * PLACES.length * 2);
    const made = rows(() => six([100, 0])).filter(({ visit }) => visit === 0);
    expect(missing(all, made)).toEqual(all.filter(({ visit }) => visit === 1));
  });
});

describe("the promise", () => {
  /** From the second page on so many come over HTTP/3, the first of them slowly. */
  const taken = (over: number): readonly (readonly [number, number])[] =>
    Array.from({ length: PAGES }, (_, i) => [i === 1 && over > 0 ? 500 : 100, i > 0 && i <= over ? 10 : 0]);
  it.each([
    ["two pages over HTTP/3, then as fast as HTTP/2", taken(2), true],
    ["three pages", taken(3), false],
    ["none", taken(0), true],
    ["slower from the third page on", six([120, 0]), false],
  ])("%s", (_name, pages, kept) => {
    const { places } = summaryOf(rows((arm, isPoliced) => (arm === "adaptive" && isPoliced ? pages : six([100, 0]))));
    expect(places.map(keeps)).toEqual(places.map(({ isPoliced }) => (isPoliced ? kept : undefined)));
  });

  it("says nothing where HTTP/2 was not measured", () => {
    const adaptive = rows(() => six([100, 0])).filter(({ arm }) => arm === "adaptive");
    expect(summaryOf(adaptive).places.map(keeps)).toEqual(PLACES.map(() => undefined));
  });
});

it("a page that did not load has a row that says why", () => {
  const [visit] = visitsOf(PLACES, 1);
  if (visit === undefined) throw new Error("There is a visit.");
  const result = {
    startedMs: 1,
    outcome: "timeout",
    error: "too long",
    pageMs: [90],
    filesH3: [5],
    busyRatio: null,
    lateRatio: null,
  };
  const [first, second] = rowsOf(visit, result as unknown as LoadResult);
  expect(first).toMatchObject({ outcome: "ok", loadMs: 90, filesH3: 0.5 });
  expect(second).toMatchObject({ outcome: "timeout", error: "too long", loadMs: null, filesH3: null });
});

it("reports each place", () => {
  const report = policedReport(summaryOf(rows((arm) => six([100, arm === "adaptive" ? 10 : 0]))));
  const text = reportText("policed", report);
  for (const { network } of PLACES) expect(text).toContain(network.name);
  expect(text).toContain("**breaks it**");
  expect(text).not.toMatch(/NaN|undefined/);
});
