import { errors, type Page } from "playwright-core";
import { describe, expect, it, vi } from "vitest";
import { exampleStart } from "../../harness/loads/testing.ts";
import { renderSvg } from "../../analysis/charts/chart.ts";
import { sizeOf } from "../../harness/loads/options.ts";
import { reportText } from "../../harness/results.ts";
import { commonOptions } from "../../harness/run.ts";
import { readOptions } from "../../model/options.ts";
import { experiment } from "./experiment.ts";
import { browserPictures, browserValues } from "./findings.ts";
import { shareOf } from "./load-pages.ts";
import { rowOf } from "./measure.ts";
import type { BrowserRow } from "./row.ts";
import { navigate } from "../../lab/navigate.ts";
import { missingVisits, navigationId } from "./schedule.ts";
import { type Place, placeId, placesOf } from "./settings.ts";
import { type BrowserSummary, findGroup, groupsOf } from "./summary.ts";

const SEEN = {
  outcome: "ok",
  answer: "none",
  loadMs: 100,
  lcpMs: 80,
  ttfbMs: 10,
  connectMs: 4,
  documentProtocol: "h2",
  files: Array<string>(14).fill("h2"),
  resourceBytes: 1_880_000,
} as const;
const COUNTED = { up: 30, down: 70, late: 5, droppedLoss: 2, droppedQueue: 0 };

async function browserReport(
  summary: BrowserSummary,
): Promise<{ markdown: string; pictures: { file: string; svg: string }[] }> {
  return {
    markdown: reportText("browser-page", { values: browserValues(summary) }),
    pictures: await Promise.all(
      browserPictures(summary).map(async ({ file, spec }) => ({ file, svg: await renderSvg(spec) })),
    ),
  };
}

function readBrowserPageOptions(args: readonly string[]) {
  const { seed, fresh, ...size } = readOptions(args, { ...experiment.options, ...commonOptions("browser-page") });
  return { size: sizeOf(size), seed, fresh };
}

/** Every visit's navigations take as long as this says. */
function rowsOf(place: Place, loadMs: (arm: string, navigation: number) => number): BrowserRow[] {
  return missingVisits(place, [], 1).flatMap((visit) =>
    [0, ...place.pausesMs].map((_, index) => {
      const ms = loadMs(visit.arm, index + 1) * (1 + (visit.visit % 2) / 100);
      return rowOf(visit, place, index + 1, { ...SEEN, startedMs: 1e12, loadMs: ms, busyRatio: 0.9 }, COUNTED);
    }),
  );
}

describe("missingVisits", () => {
  const [place] = placesOf("usual");
  if (place === undefined) throw new Error("There is a place.");

  it("has every page, arm and visit once, a round at a time", () => {
    const visits = missingVisits(place, [], 1);
    expect(new Set(visits.map(({ id }) => id)).size).toBe(place.visits * place.pages.length * place.arms.length);
    const round = place.pages.length * place.arms.length;
    expect(visits.slice(0, round).every(({ visit }) => visit === 0)).toBe(true);
  });

  it("goes on where the rows end: a visit that was cut short is made again", () => {
    const visits = missingVisits(place, [], 1);
    const [first, second, third] = visits;
    const rows = [
      navigationId(first?.id ?? "", 1),
      navigationId(first?.id ?? "", 2),
      navigationId(second?.id ?? "", 1),
    ];
    const left = missingVisits(
      place,
      rows.map((id) => ({ id })),
      1,
    );
    expect(left).toHaveLength(visits.length - 1);
    expect(left[0]).toEqual(second);
    expect(left[1]).toEqual(third);
  });
});

it("a row has what the browser, the cores and the path tell, and nothing of what failed", () => {
  const [place] = placesOf("usual");
  if (place === undefined) throw new Error("There is a place.");
  const visit = { id: "a", page: "page", arm: "adaptive", visit: 0 } as const;
  const row = rowOf(visit, place, 2, { ...SEEN, answer: "offer", busyRatio: Number.NaN }, COUNTED);
  expect(row).toMatchObject({ id: "a/2", answer: "offer", lateRatio: 0.05, busyRatio: null, packetsDroppedLoss: 2 });
  const late = { ...COUNTED, late: Number.NaN };
  const failed = rowOf(visit, place, 1, { outcome: "failed", error: "net::ERR", busyRatio: 0.1 }, late);
  expect(failed).toMatchObject({ loadMs: null, lcpMs: null, answer: "", busyRatio: 0.1, lateRatio: null });
});

describe("navigate", () => {
  const timing = { loadMs: 12, documentProtocol: "h2" };
  const pageOf = (goto: () => Promise<unknown>) =>
    ({ goto, evaluate: () => Promise.resolve(timing) }) as unknown as Page;
  const answered = (altSvc: string | null, code = 200) =>
    navigate(
      pageOf(() => Promise.resolve({ status: () => code, headerValue: () => Promise.resolve(altSvc) })),
      "https://h3.test/",
    );

  it.each([
    ['h3=":8010"; ma=300', "offer"],
    ["clear", "clear"],
    [null, "none"],
  ])("Alt-Svc %j is %s", async (altSvc, answer) => {
    expect(await answered(altSvc)).toEqual({ outcome: "ok", answer, ...timing });
  });

  it("says why a page was not loaded", async () => {
    expect(await answered("clear", 502)).toEqual({ outcome: "failed", error: "status 502" });
    const failing = (error: Error) => navigate(pageOf(vi.fn().mockRejectedValue(error)), "https://h3.test/");
    expect(await failing(new Error("net::ERR\nat page"))).toEqual({ outcome: "failed", error: "net::ERR" });
    expect(await failing(new errors.TimeoutError("late"))).toEqual({
      outcome: "timeout",
      error: "late",
      loadMs: 120_000,
    });
  });
});

it("the share that is done is of visits, each with its last navigation", () => {
  const places = placesOf("quick");
  const rows = places.flatMap((place) => rowsOf(place, () => 100));
  expect(shareOf(places, [], 1)).toBe(0);
  expect(shareOf(places, rows, 1)).toBe(1);
  expect(shareOf(places, rows.slice(0, -1), 1)).toBeCloseTo(1 - 1 / 34, 9);
});

describe("the report", () => {
  const places = placesOf("usual");
  const rows = places.flatMap((place) =>
    rowsOf(place, (arm, navigation) => (arm === "fixed-h2" ? 300 : 200) / (navigation === 1 ? 1 : 2)),
  );
  const summary: BrowserSummary = {
    command: "npm run bench -- x",
    day: "2026-01-01",
    seed: 1,
    browser: "156",
    starts: [exampleStart()],
    places,
    rows: rows.length,
    failures: 0,
    timeouts: 0,
    groups: groupsOf(places, rows, 1),
    connections: {
      place: "distant-cubic",
      packets: [{ atMs: 0, from: "client", type: "Initial", number: 1, bytes: 1_250, frames: "CRYPTO" }],
      slowStarts: [
        { browsers: 1, connections: [{ leftAtBytes: null, rttAboveMs: null, packetsLost: 0, transferMs: 1_200 }] },
        {
          browsers: 3,
          connections: [
            { leftAtBytes: 42_000, rttAboveMs: 33, packetsLost: 0, transferMs: 5_800 },
            { leftAtBytes: 900_000, rttAboveMs: 20, packetsLost: 2, transferMs: 1_500 },
          ],
        },
      ],
    },
  };

  it("finds the ratio that was put in, by navigation", () => {
    const group = findGroup(summary, "distant-cubic", "page", "adaptive", 3);
    expect(group?.loadRatio?.estimate).toBeCloseTo(1.5, 3);
    expect(group?.loadMs.estimate).toBeCloseTo(100.5, 0);
    expect(findGroup(summary, "distant-cubic", "page", "fixed-h2", 3)?.loadRatio).toBeUndefined();
  });

  it("sets a host of files beside what all files over HTTP/3 take, where a page has files", async () => {
    const moved = places.flatMap((place) => rowsOf(place, (arm) => ({ "fixed-h3": 400, "files-h2": 250 })[arm] ?? 200));
    const movedGroups = groupsOf(places, moved, 1);
    const group = findGroup({ ...summary, groups: movedGroups }, "lossy-bbr", "page", "files-h2", 3);
    expect([group?.loadRatioToH3?.estimate, group?.loadRatio?.estimate]).toEqual([
      expect.closeTo(1.6, 3),
      expect.closeTo(0.8, 3),
    ]);
    expect(findGroup(summary, "lossy-bbr", "page", "adaptive", 3)?.loadRatioToH3).toBeUndefined();
    const { markdown } = await browserReport({ ...summary, groups: movedGroups });
    expect(markdown).toMatch(/\| lossy-bbr +\| +page \| +3 \| +402 \| +251 \| +1\.60 \(.*\) \| +201 \|/);
  });

  it("has every place, a picture for each that it names, and the handshake", async () => {
    const { markdown, pictures } = await browserReport(summary);
    expect(markdown).not.toMatch(/NaN|undefined|Infinity/);
    for (const place of places) expect(markdown).toContain(`| ${placeId(place)} `);
    for (const { file, svg } of pictures) {
      expect(markdown).toContain(`](${file})`);
      expect(svg).toMatch(/^<svg/);
    }
    expect(markdown).toContain("| Initial ");
  });

  it("sets connections that ended slow start too early beside the others", async () => {
    const { markdown } = await browserReport(summary);
    expect(markdown).toMatch(/\| 1 +\| +1 \| +0 \| +- \| +- \| +1,200 \| +0 \|/);
    expect(markdown).toMatch(/\| 3 +\| +2 \| +1 \| +33\.0 \| +5,800 \| +1,500 \| +2 \|/);
  });

  it("counts the loads that took over twice the median", async () => {
    const place = placesOf("usual").find(({ network: { name } }) => name === "distant");
    if (place === undefined) throw new Error("There is a place.");
    const slow = rowsOf(place, () => 100).map((row) =>
      row.arm === "adaptive" && row.visit < 3 ? { ...row, loadMs: 250 } : row,
    );
    const groups = groupsOf([place], slow, 1);
    expect(groups.map(({ arm, navigation, slow: count }) => [arm, navigation, count])).toContainEqual([
      "adaptive",
      3,
      3,
    ]);
    expect((await browserReport({ ...summary, groups })).markdown).toMatch(/\| +16 \|.* \| +3 \|/);
  });

  it("says whether there are as many loads as in the published runs", async () => {
    expect((await browserReport(summary)).markdown).toContain("there are fewer (`--full` makes 50");
    const { markdown } = await browserReport({ ...summary, places: placesOf("full") });
    expect(markdown).toContain("The published runs have 50 loads of each too.");
  });
});

describe("options", () => {
  it("are read", () => {
    expect(readBrowserPageOptions(["--quick", "--seed", "7"])).toMatchObject({ size: "quick", seed: 7 });
    expect(readBrowserPageOptions([])).toMatchObject({ size: "usual", seed: 1, fresh: false });
  });
  it.each([
    [["--quick", "--full"], "exclude each other"],
    [["--seed", "x"], "--seed must be"],
    [["--visits", "3"], "Known options"],
  ])("%j is refused: %s", (args, why) => {
    expect(() => readBrowserPageOptions(args)).toThrow(why);
  });
});
