import { expect, it } from "vitest";
import { blankRow } from "../../model/row-schema.ts";
import { visitsOf } from "./experiment.ts";
import {
  ARMS,
  BROWSERS_ROW,
  type BrowsersRow,
  browsersSummary,
  CLIENTS,
  HYSTART,
  HYSTART_ARMS,
  NETWORKS,
  PAGES,
  POLICED,
  POLICED_ARMS,
} from "./report.ts";

const ASKED = { visits: 2, congestion: "cubic", seed: 1, policed: false, hystart: false, quick: false } as const;
const STARTS = [{ at: "2026-11-26T00:00:00Z", machine: { commit: "" } }] as never;

/** HTTP/3 takes half of the time in Chromium, and twice in Firefox. */
function rowsOf(change: (row: BrowsersRow) => Partial<BrowsersRow> = () => ({})): BrowsersRow[] {
  return visitsOf(ASKED).flatMap(({ id, place, browser, device, arm, visit }) =>
    Array.from({ length: PAGES }, (_, i) => {
      const isOverH3 = arm === "always-offer" && i > 0;
      const loadMs = (100 + visit) * (isOverH3 ? (browser === "chromium" ? 0.5 : 2) : 1);
      const row = blankRow(BROWSERS_ROW, {
        id: `${id}/${i + 1}`,
        network: place.network.name,
        outcome: "ok",
        congestion: "cubic",
        browser,
        device,
        arm,
        visit,
        page: i + 1,
        loadMs,
        filesH3: isOverH3 ? 1 : 0,
      });
      return { ...row, ...change(row) };
    }),
  );
}

const groupsOf = (rows: readonly BrowsersRow[]) =>
  browsersSummary({ rows, command: "", starts: STARTS }, NETWORKS, 1).groups;

it("makes each browser's visits on each device once a round", () => {
  const visits = visitsOf(ASKED);
  expect(new Set(visits.map(({ id }) => id)).size).toBe(2 * NETWORKS.length * CLIENTS.length * ARMS.length);
  expect(visits.slice(0, visits.length / 2).every(({ visit }) => visit === 0)).toBe(true);
});

it("where UDP is policed, holds ours against itself without a rehearsal, on fast devices", () => {
  const visits = visitsOf({ ...ASKED, policed: true });
  expect(visits).toHaveLength(2 * POLICED.length * 2 * POLICED_ARMS.length);
  expect(new Set(visits.map(({ device }) => device))).toEqual(new Set(["fast"]));
  const rows = rowsOf().flatMap((row) =>
    row.device === "fast" && row.browser === "chromium"
      ? [{ ...row, arm: row.arm === "always-offer" ? ("unrehearsed" as const) : row.arm }]
      : [],
  );
  const { other, groups } = browsersSummary({ rows, command: "", starts: STARTS }, NETWORKS, 1);
  expect([other, groups.length]).toEqual(["unrehearsed", NETWORKS.length]);
  expect(groups[0]?.oursOverOther.estimate).toBeCloseTo(2);
});

it("holds two slow starts against each other in Chromium, on every device", () => {
  const visits = visitsOf({ ...ASKED, hystart: true });
  expect(visits).toHaveLength(2 * HYSTART.length * 3 * HYSTART_ARMS.length);
  expect(new Set(visits.map(({ browser }) => browser))).toEqual(new Set(["chromium"]));
  const rows = rowsOf().flatMap((row) => {
    if (row.browser !== "chromium") return [];
    return [{ ...row, arm: row.arm === "adaptive" ? ("own-start" as const) : row.arm }];
  });
  const { other, groups } = browsersSummary({ rows, command: "", starts: STARTS }, NETWORKS, 1);
  expect([other, groups.length]).toEqual(["own-start", 3 * NETWORKS.length]);
  expect([groups[0]?.oursOverOther.estimate, groups[0]?.otherLater.estimate]).toEqual([
    expect.closeTo(0.5),
    expect.closeTo(1),
  ]);
});

it("sets pages that an offer changes beside never's, for each browser", () => {
  const groups = groupsOf(rowsOf());
  expect(groups).toHaveLength(CLIENTS.length * NETWORKS.length);
  for (const { browser, n, otherLater, oursAll, overH3 } of groups) {
    expect(n).toEqual([2, 2, 2]);
    expect(otherLater.estimate).toBeCloseTo(browser === "chromium" ? 0.5 : 2);
    expect(oursAll.estimate).toBeCloseTo(1);
    expect(overH3).toEqual({ other: [0, 1, 1, 1], ours: [0, 0, 0, 0] });
  }
});

it("sets the page that brings an offer beside never's", () => {
  const threefold = ({ arm, page, loadMs }: BrowsersRow) => (arm === "adaptive" && page === 1 ? 3 : 1) * Number(loadMs);
  const [group] = groupsOf(rowsOf((row) => ({ loadMs: threefold(row) })));
  expect(group?.oursFirst.estimate).toBeCloseTo(3);
  expect(group?.otherFirst.estimate).toBeCloseTo(1);
  expect(group?.oursLater.estimate).toBeCloseTo(1);
});

it("counts no visit that lacks a page", () => {
  const [group] = groupsOf(rowsOf(({ page, visit }) => (page === 3 && visit === 0 ? { loadMs: null } : {})));
  expect(group?.n).toEqual([1, 1, 1]);
});
