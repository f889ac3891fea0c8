import { describe, expect, it } from "vitest";
import { reportText } from "../../harness/results.ts";
import { exampleStart } from "../../harness/loads/testing.ts";
import {
  changingCosts,
  findGroup,
  noneLoaded,
  type OffersSummary,
  offersSummary,
  staysAndThenSwitches,
} from "./findings.ts";
import { rowOf } from "./measure.ts";
import { remembers, rowsOf as rowsOfK6 } from "./measure-k6.ts";
import { offersValues } from "./report.ts";
import type { OfferRow } from "../../model/offer-row.ts";
import type { LoadResult } from "../../model/plan.ts";
import { missingVisits, pageId } from "./schedule.ts";
import { PAGES, type Place, placesOf } from "./settings.ts";

const COUNTED = { up: 30, down: 70, late: 2, droppedLoss: 2, droppedQueue: 0 };
const VISITS = 4;
const FAR = placesOf(VISITS, false).filter(({ network }) => network.delayMs === 75 && network.lossRatio === 0);
const [NEAR] = placesOf(VISITS, true);
if (NEAR === undefined) throw new Error("There is a place.");

interface Seen {
  readonly loadMs: number;
  readonly files: readonly string[];
}

function rowsOf(places: readonly Place[], see: (treatment: string, page: number) => Seen): OfferRow[] {
  return missingVisits(places, [], 1).flatMap((visit) =>
    Array.from({ length: PAGES }, (_, i) => {
      const { loadMs, files } = see(visit.treatment.name, i + 1);
      const ms = loadMs * (1 + visit.visit / 100);
      return rowOf(
        visit,
        i + 1,
        { outcome: "ok", loadMs: ms, files, documentProtocol: files[0] ?? "", startedMs: 1e12, busyRatio: 0.5 },
        COUNTED,
      );
    }),
  );
}

function summaryOf(places: readonly Place[], see: (treatment: string, page: number) => Seen): OffersSummary {
  const starts = [exampleStart()];
  return offersSummary({ rows: rowsOf(places, see), command: "npm run bench -- offers", starts }, places, 1);
}

const over = (...versions: readonly number[]): string[] => versions.map((version) => `h${version}`);

describe("missingVisits", () => {
  it("has each treatment of each place once in a round, and goes on where the rows end", () => {
    const places = placesOf(3, false);
    const all = missingVisits(places, [], 1);
    const perRound = places.reduce((sum, { treatments }) => sum + treatments.length, 0);
    expect(perRound).toBe(16 * 3 + 4 * 5);
    expect(new Set(all.slice(0, perRound).map(({ visit }) => visit))).toEqual(new Set([0]));
    expect(new Set(all.map(({ id }) => id)).size).toBe(3 * perRound);
    const [first, second] = all;
    const made = [pageId(first?.id ?? "", PAGES), pageId(second?.id ?? "", 1)].map((id) => ({ id }));
    expect(missingVisits(places, made, 1)).toEqual(all.slice(1));
    expect(missingVisits(places, [], 2)).not.toEqual(all);
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

it("a row has what was seen of each file, and nothing of what failed", () => {
  const [visit] = missingVisits([NEAR], [], 1);
  if (visit === undefined) throw new Error("There is a visit.");
  const seen = { outcome: "ok", files: over(2, 2, 3), loadMs: 12, startedMs: 1, busyRatio: Number.NaN } as const;
  expect(rowOf(visit, 2, seen, COUNTED)).toMatchObject({ files: "223", page: 2, busyRatio: null, lateRatio: 0.02 });
  const failed = { outcome: "failed", error: "net::ERR", startedMs: 1, busyRatio: 0.1 } as const;
  expect(rowOf(visit, 2, failed, COUNTED)).toMatchObject({ files: "", loadMs: null, answer: "", error: "net::ERR" });
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

  it("says whether the page at hand stays and the next one switches", () => {
    expect(staysAndThenSwitches(summaryOf(FAR, staying), 80)).toBe("Holds");
    expect(staysAndThenSwitches(summaryOf(FAR, changing), 80)).toBe("Does not hold");
    expect(staysAndThenSwitches(summaryOf([NEAR], staying), 80)).toBe("Not shown");
  });

  it("says whether a page that changes in its middle is slower", () => {
    expect(changingCosts(summaryOf([NEAR], changing))).toBe("Not shown");
    const places = [{ ...NEAR, visits: VISITS }];
    expect(changingCosts(summaryOf(places, changing))).toBe("Holds");
    expect(changingCosts(summaryOf(places, staying))).toBe("Not shown");
    const faster = (treatment: string, page: number): Seen => ({
      ...changing(treatment, page),
      loadMs: page === 1 && treatment === "first" ? 700 : 1_000,
    });
    expect(changingCosts(summaryOf(places, faster))).toBe("Does not hold");
  });

  it("fills the report", () => {
    const text = reportText("offers", { values: offersValues(summaryOf([NEAR], changing)) });
    for (const { name } of NEAR.treatments) expect(text).toContain(`\`${name}\``);
    expect(text).toContain("50.0 %");
  });
});

describe("a visit by k6's client", () => {
  const [visit] = missingVisits([NEAR], [], 1);
  if (visit === undefined) throw new Error("There is a visit.");
  const result = (id: string, pageMs: readonly number[], filesH3: readonly number[]): LoadResult =>
    ({
      id,
      pageMs,
      filesH3,
      startedMs: 1e12,
      outcome: "ok",
      error: "",
      documentProtocol: "h2",
      busyRatio: 0.2,
      lateRatio: 0.001,
    }) as unknown as LoadResult;

  it("has a row for each page, as a browser's has", () => {
    const rows = rowsOfK6(visit, result("visit", [100, 90, 80, 70], [0, 14, 14, 0]));
    expect(rows.map(({ page, loadMs }) => [page, loadMs])).toEqual([
      [1, 100],
      [2, 90],
      [3, 80],
      [4, 70],
    ]);
    expect(rows.map(({ files }) => files.replaceAll("2", "").length)).toEqual([0, 14, 14, 0]);
    expect(rowsOfK6(visit, result("return", [60], [14]))).toMatchObject([{ page: PAGES, loadMs: 60, outcome: "ok" }]);
  });

  it("says of a page that did not load what went wrong", () => {
    const failed = { ...result("visit", [100], [0]), outcome: "timeout", error: "too long" } as LoadResult;
    expect(rowsOfK6(visit, failed).map(({ outcome, error }) => [outcome, error])).toEqual([
      ["ok", ""],
      ...Array.from({ length: 3 }, () => ["timeout", "too long"]),
    ]);
  });

  it.each([
    [["h3", "h3", "h3", "h3", "h3"], true],
    [["h3", "h3", "clear", "none", "none"], false],
    [["none", "h3", "none", "none", "none"], true],
    [["none", "none", "none", "none", "h3"], false],
  ] as const)("returns over HTTP/3 where the last answer before was an offer: %j", (answers, known) => {
    expect(remembers(answers)).toBe(known);
  });
});

it("fails where no page loaded, and says why", () => {
  const failed = { outcome: "failed", error: "no route" } as const;
  expect(noneLoaded([failed, failed])).toBe("No page loaded: no route");
  expect(noneLoaded([failed, { outcome: "ok", error: "" }])).toBeUndefined();
  expect(noneLoaded([])).toBeUndefined();
});
