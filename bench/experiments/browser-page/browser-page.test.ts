import { describe, expect, it } from "vitest";
import { exampleStart } from "../../harness/loads/testing.ts";
import { renderSvg } from "../../analysis/charts/chart.ts";
import { sizeOf } from "../../harness/loads/options.ts";
import { commonOptions, reportText } from "../../harness/run.ts";
import { readOptions } from "../../model/options.ts";
import { missing, shareMade } from "../../harness/missing.ts";
import { experiment, placesOf, rowOf, visitsOf } from "./experiment.ts";
import {
  browserReport,
  type BrowserRow,
  type BrowserSummary,
  findGroup,
  groupsOf,
  type BrowserPlace,
  placeId,
} from "./report.ts";

const SEEN = {
  outcome: "ok",
  answer: "none",
  loadMs: 100,
  lcpMs: 80,
  ttfbMs: 10,
  connectMs: 4,
  documentProtocol: "h2",
  files: Array<string>(14).fill("h2"),
  startedMs: 1e12,
  busyRatio: 0.9,
  lateRatio: 0.05,
} as const;

async function reported(
  summary: BrowserSummary,
): Promise<{ markdown: string; pictures: { file: string; svg: string }[] }> {
  const report = browserReport(summary);
  return {
    markdown: reportText("browser-page", report),
    pictures: await Promise.all(
      (report.pictures ?? []).map(async ({ file, spec }) => ({ file, svg: await renderSvg(spec) })),
    ),
  };
}

function readBrowserPageOptions(args: readonly string[]) {
  const { seed, fresh, ...size } = readOptions(args, { ...experiment.options, ...commonOptions("browser-page") });
  return { size: sizeOf(size), seed, fresh };
}

/** Every visit's navigations take as long as this says. */
function rowsOf(place: BrowserPlace, loadMs: (arm: string, navigation: number) => number): BrowserRow[] {
  return visitsOf([place], 1).flatMap((visit) =>
    [0, ...place.pausesMs].map((_, index) => {
      const ms = loadMs(visit.arm, index + 1) * (1 + (visit.visit % 2) / 100);
      return rowOf(visit, index + 1, { ...SEEN, loadMs: ms });
    }),
  );
}

describe("visits", () => {
  const [place] = placesOf("usual");
  if (place === undefined) throw new Error("There is a place.");

  it("has every page, arm and visit once, a round at a time", () => {
    const visits = visitsOf([place], 1);
    expect(new Set(visits.map(({ id }) => id)).size).toBe(place.visits * place.pages.length * place.arms.length);
    const round = place.pages.length * place.arms.length;
    expect(visits.slice(0, round).every(({ visit }) => visit === 0)).toBe(true);
  });

  it("goes on where the rows end: a visit that was cut short is made again", () => {
    const visits = visitsOf([place], 1);
    const [first, second, third] = visits;
    const rows = [`${first?.id}/1`, `${first?.id}/2`, `${second?.id}/1`].map((id) => ({ id }));
    const left = missing(visits, rows);
    expect(left).toHaveLength(visits.length - 1);
    expect(left[0]).toEqual(second);
    expect(left[1]).toEqual(third);
  });
});

it("a row has what the browser, the cores and the path tell, and nothing of what failed", () => {
  const [visit] = visitsOf(placesOf("usual"), 1);
  if (visit === undefined) throw new Error("There is a visit.");
  const mixed = [...SEEN.files, "h3"];
  expect(rowOf(visit, 2, { ...SEEN, files: mixed, answer: "offer" })).toMatchObject({
    id: `${visit.id}/2`,
    answer: "offer",
    lateRatio: 0.05,
    resourcesH2: 14,
    resourcesH3: 1,
  });
  const failed = { outcome: "failed", error: "net::ERR", startedMs: 1, busyRatio: 0.1, lateRatio: null } as const;
  const nothing = { loadMs: null, lcpMs: null, answer: "", busyRatio: 0.1, lateRatio: null, resourcesH2: null };
  expect(rowOf(visit, 1, failed)).toMatchObject(nothing);
});

it("the share that is done is of visits, each with its last navigation", () => {
  const places = placesOf("quick");
  const rows = places.flatMap((place) => rowsOf(place, () => 100));
  const visits = visitsOf(places, 1);
  expect(shareMade(visits, [])).toBe(0);
  expect(shareMade(visits, rows)).toBe(1);
  expect(shareMade(visits, rows.slice(0, -1))).toBeCloseTo(1 - 1 / visits.length, 9);
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
    starts: [exampleStart()],
    places,
    rows: rows.length,
    failures: 0,
    timeouts: 0,
    groups: groupsOf(places, rows, 1),
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
    const { markdown } = await reported({ ...summary, groups: movedGroups });
    expect(markdown).toMatch(/\| lossy-bbr +\| +page \| +files-h2 \| +3 \| .*\| 251 \(.*\| 1\.60 \(/);
  });

  it("has every place, and a picture for each that it names", async () => {
    const { markdown, pictures } = await reported(summary);
    expect(markdown).not.toMatch(/NaN|undefined|Infinity/);
    for (const place of places) expect(markdown).toContain(`| ${placeId(place)} `);
    for (const { file, svg } of pictures) {
      expect(markdown).toContain(`](${file})`);
      expect(svg).toMatch(/^<svg/);
    }
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
    expect((await reported({ ...summary, groups })).markdown).toMatch(/\| +16 \|.* \| +3 \|/);
  });

  it("says whether there are as many loads as in the published runs", async () => {
    expect((await reported(summary)).markdown).toContain("there are fewer (`--full` makes 50");
    const { markdown } = await reported({ ...summary, places: placesOf("full") });
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
