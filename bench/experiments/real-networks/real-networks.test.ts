import { expect, it } from "vitest";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { blankRow } from "../../model/row-schema.ts";
import { visitsOf } from "./experiment.ts";
import { networksOf } from "./networks.ts";
import { ARMS, networksSummary, PAGES, REAL_ROW, type RealRow, STACKS } from "./report.ts";

const TRACE = { name: "link", sha256: "", stepMs: 1_000, rateMbps: [10, 10, 0, 3] };

it("has a network of every kind, each with its own name", () => {
  const networks = networksOf([TRACE], "own");
  expect(new Set(networks.map(({ from }) => from))).toEqual(new Set(["described", "policed", "trace"]));
  expect(new Set(networks.map(({ network }) => network.name)).size).toBe(networks.length);
  expect(networks.at(-1)?.network).toMatchObject({ name: "link", profileRepeatMs: 4_000 });
});

it("loses half of the packets for a moment, again and again, in bursts", () => {
  const bursts = networksOf([], "own").find(({ network: { name } }) => name.includes("bursts"))?.network.profile ?? [];
  expect(bursts).toHaveLength(40);
  expect(bursts.map(({ atMs }) => atMs)).toEqual(bursts.map(({ atMs }) => atMs).toSorted((a, b) => a - b));
  expect(bursts.filter(({ lossRatio }) => lossRatio === 0.5)).toHaveLength(20);
});

it("makes one visit of each network, stack and arm a round", () => {
  const networks = networksOf([], "quick");
  const visits = visitsOf(networks, 3, 1);
  expect(new Set(visits.map(({ id }) => id)).size).toBe(3 * networks.length * STACKS.length * ARMS.length);
  expect(visits.slice(0, visits.length / 3).every(({ visit }) => visit === 0)).toBe(true);
});

const NETWORKS = networksOf([], "quick");

/** Three visits of each arm on each of two networks: always offering halves the time on the first, and doubles it on the second; ours follows. */
function rowsOf(change: (row: RealRow) => Partial<RealRow> = () => ({})): RealRow[] {
  const random = seededRandom("rows");
  return NETWORKS.flatMap(({ network: { name: network } }, place) =>
    STACKS.flatMap((congestion) =>
      ARMS.flatMap((arm) =>
        [0, 1, 2].flatMap((visit) =>
          Array.from({ length: PAGES }, (_, i) => {
            const isOffered = arm === "always-offer" || (arm === "adaptive" && place === 0);
            const factor = isOffered ? (place === 0 ? 0.5 : 2) : 1;
            const id = `${network}/${congestion}/${arm}/${visit}/${i + 1}`;
            const loadMs = 100 * factor * (1 + random() / 1_000);
            const row = {
              id,
              network,
              congestion,
              arm,
              visit,
              page: i + 1,
              outcome: "ok",
              loadMs,
              filesH3: isOffered ? 1 : 0,
              startedMs: 1,
            } as const;
            const whole = blankRow(REAL_ROW, row);
            return { ...whole, ...change(whole) };
          }),
        ),
      ),
    ),
  );
}

const summaryOf = (rows: readonly RealRow[]) => networksSummary({ rows, command: "", starts: [] }, NETWORKS, 1);

it("says what each contender gains, and ours over the best fixed choice", () => {
  const { scores, places } = summaryOf(rowsOf());
  const gains = Object.fromEntries(
    scores[2]?.contenders.map(({ contender, gain }) => [contender, gain.estimate]) ?? [],
  );
  expect(gains["never"]).toBe(0);
  expect(gains["always"]).toBeCloseTo(0, 2);
  expect(gains["ours"]).toBeCloseTo(Math.log(2) / 2, 2);
  expect(gains["measured table"]).toBeCloseTo(0, 2);
  expect(places.map(({ best }) => best)).toEqual(["always-offer", "fixed-h2", "always-offer", "fixed-h2"]);
  for (const { ours } of places) expect(ours.estimate).toBeCloseTo(1, 2);
  expect(places[0]?.overH3).toEqual([1, 1, 1]);
});

it("counts a page that never came with all its time, and leaves out a visit of a busy machine", () => {
  const failed = summaryOf(
    rowsOf(({ arm, page }) => (arm === "table" && page === 2 ? { loadMs: null, outcome: "timeout" } : {})),
  );
  expect(failed.places[0]?.ms.table).toBeGreaterThan(500);
  const busy = summaryOf(rowsOf(({ visit, page }) => (visit > 0 && page === 3 ? { busyRatio: 0.99 } : {})));
  expect(busy.places).toEqual([]);
  expect(busy.left).toHaveLength(4);
});
