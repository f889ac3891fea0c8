import { describe, expect, it } from "vitest";
import { reportText } from "../../harness/run.ts";
import { exampleStart } from "../../harness/loads/testing.ts";
import { missing } from "../../harness/missing.ts";
import { rowOf, visitsOf } from "./experiment.ts";
import { placesOf } from "./places.ts";
import {
  findGroup,
  noneLoaded,
  type OfferRow,
  offersReport,
  type OffersSummary,
  offersSummary,
  PAGES,
  type OfferPlace,
} from "./report.ts";

const VISITS = 4;
const ASKED = { visits: VISITS, quick: false, returns: false };
const FAR = placesOf(ASKED).filter(({ network }) => network.delayMs === 75 && network.lossRatio === 0);
const [NEAR] = placesOf({ ...ASKED, quick: true });
const [AGAIN] = placesOf({ ...ASKED, quick: true, returns: true });
if (NEAR === undefined || AGAIN === undefined) throw new Error("There is a place.");

interface Seen {
  readonly loadMs: number;
  readonly files: readonly string[];
}

function rowsOf(places: readonly OfferPlace[], see: (treatment: string, page: number) => Seen): OfferRow[] {
  return visitsOf(places, 1).flatMap((visit) =>
    Array.from({ length: PAGES }, (_, i) => {
      const { loadMs, files } = see(visit.treatment.name, i + 1);
      const ms = loadMs * (1 + visit.visit / 100);
      const seen = { outcome: "ok", startedMs: 1e12, busyRatio: 0.5, lateRatio: 0.02 } as const;
      return rowOf(visit, i + 1, { ...seen, loadMs: ms, files, documentProtocol: files[0] ?? "" });
    }),
  );
}

function summaryOf(places: readonly OfferPlace[], see: (treatment: string, page: number) => Seen): OffersSummary {
  const starts = [exampleStart()];
  return offersSummary({ rows: rowsOf(places, see), command: "npm run bench -- offers", starts }, places, 1);
}

const over = (...versions: readonly number[]): string[] => versions.map((version) => `h${version}`);

describe("visits", () => {
  it("has each treatment of each place once in a round, and goes on where the rows end", () => {
    const places = placesOf({ ...ASKED, visits: 3 });
    const all = visitsOf(places, 1);
    const perRound = places.reduce((sum, { treatments }) => sum + treatments.length, 0);
    expect(perRound).toBe(16 * 3 + 4 * 5);
    expect(new Set(all.slice(0, perRound).map(({ visit }) => visit))).toEqual(new Set([0]));
    expect(new Set(all.map(({ id }) => id)).size).toBe(3 * perRound);
    const [first, second] = all;
    const made = [`${first?.id}/${PAGES}`, `${second?.id}/1`].map((id) => ({ id }));
    expect(missing(all, made)).toEqual(all.slice(1));
    expect(visitsOf(places, 2)).not.toEqual(all);
  });
});

it("leaves out pages that shared the cores with something else, and says how many", () => {
  const busy = rowsOf(FAR, () => ({ loadMs: 100, files: over(2, 2) })).map((row, i) =>
    i % 4 === 0 ? { ...row, lateRatio: 0.031 } : row,
  );
  const { rows, late } = offersSummary(
    { rows: busy, command: "npm run bench -- offers", starts: [exampleStart()] },
    FAR,
    1,
  );
  expect([rows, late]).toEqual([busy.length, Math.ceil(busy.length / 4)]);
});

it("has a summary and a report where no page counts", () => {
  const late = rowsOf(FAR, () => ({ loadMs: 100, files: over(2, 2) })).map((row) => ({ ...row, lateRatio: 0.5 }));
  const summary = offersSummary({ rows: late, command: "npm run bench -- offers", starts: [exampleStart()] }, FAR, 1);
  expect(summary).toMatchObject({ rows: late.length, late: late.length, groups: [], day: "2001-09-09" });
  expect(reportText("offers", offersReport(summary))).toMatch(/\| +first \| +- \|/);
});

it("a row has what was seen of each file, and nothing of what failed", () => {
  const [visit] = visitsOf([NEAR], 1);
  if (visit === undefined) throw new Error("There is a visit.");
  const around = { startedMs: 1, busyRatio: 0.1, lateRatio: null };
  const seen = { ...around, outcome: "ok", files: over(2, 2, 3), loadMs: 12 } as const;
  expect(rowOf(visit, 2, seen)).toMatchObject({ id: `${visit.id}/2`, files: "223", page: 2, lateRatio: null });
  const failed = { ...around, outcome: "failed", error: "net::ERR" } as const;
  expect(rowOf(visit, 2, failed)).toMatchObject({ files: "", loadMs: null, answer: "", error: "net::ERR" });
});

describe("what is found", () => {
  /** As on a distant path: the page at hand stays, the next ones are faster. */
  const staying = (treatment: string, page: number): Seen => {
    const h3 = treatment === "first" && page > 1;
    return { loadMs: h3 ? 500 : 1_000, files: h3 ? over(3, 3) : over(2, 2) };
  };
  /** As on a short path: half of the page at hand changes, and is slower. */
  const changing = (treatment: string, page: number): Seen =>
    treatment === "first" && page === 1 ? { loadMs: 1_300, files: over(2, 3) } : { loadMs: 1_000, files: over(2, 2) };

  it("compares each page with the same one of visits that were offered nothing", () => {
    const [place] = FAR;
    if (place === undefined) throw new Error("There is a place.");
    const summary = summaryOf(FAR, staying);
    expect(findGroup(summary, place, "first", 1)).toMatchObject({ n: VISITS, filesH3: 0, ratio: { estimate: 1 } });
    const next = findGroup(summary, place, "first", 2);
    expect(next).toMatchObject({ filesH3: 1, documentsH3: 1, mixed: 0 });
    expect(next?.ratio?.estimate).toBeCloseTo(2);
    expect(findGroup(summary, place, "never", 2)?.ratio).toBeUndefined();
  });

  it("fills the report", () => {
    const text = reportText("offers", offersReport(summaryOf([NEAR], changing)));
    for (const { name } of NEAR.treatments) expect(text).toContain(`\`${name}\``);
    expect(text).toContain("50.0 %");
    expect(text).toMatch(/A visit is four pages .+, then a return\./);
    expect(text).toMatch(/\| +page 4 \| +return \|/);
  });

  it("names the pages of a return that has several", () => {
    const text = reportText("offers", offersReport(summaryOf([AGAIN], changing)));
    expect(text).toMatch(/A visit is two pages .+, then a return of three pages\./);
    expect(text).toMatch(/\| +page 2 \| +return, page 1 \| +return, page 2 \| +return, page 3 \|/);
  });
});

it("fails where no page loaded, and says why", () => {
  const failed = { outcome: "failed", error: "no route" } as const;
  expect(noneLoaded([failed, failed])).toBe("No page loaded: no route");
  expect(noneLoaded([failed, { outcome: "ok", error: "" }])).toBeUndefined();
  expect(noneLoaded([])).toBeUndefined();
});
