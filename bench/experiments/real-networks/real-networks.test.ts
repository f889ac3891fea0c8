import { expect, it } from "vitest";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { blankRow } from "../../model/row-schema.ts";
import { visitsOf } from "./experiment.ts";
import { networksOf } from "./networks.ts";
import { ARMS, networksSummary, PAGES, REAL_ROW, type RealRow } from "./report.ts";

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

const OPTIONS = { congestion: "cubic", seed: 1 } as const;

it("makes one visit of each network and arm a round", () => {
  const networks = networksOf([], "quick");
  const visits = visitsOf(networks, { ...OPTIONS, visits: 3 });
  expect(new Set(visits.map(({ id }) => id)).size).toBe(3 * networks.length * ARMS.length);
  expect(visits.slice(0, visits.length / 3).every(({ visit }) => visit === 0)).toBe(true);
});

it("begins at the same moment of a link for all arms of a round, and at another one in the next", () => {
  const networks = networksOf([{ ...TRACE, rateMbps: Array.from({ length: 100 }, (_, i) => 1 + i) }], "own");
  const visits = visitsOf(networks, { ...OPTIONS, visits: 2 }).filter(({ place }) => place.network.name === TRACE.name);
  const rates = [0, 1].map((round) => {
    const own = visits.filter(({ visit }) => visit === round);
    return [...new Set(own.map(({ place }) => place.network.rateMbps))];
  });
  expect(rates.map(({ length }) => length)).toEqual([1, 1]);
  expect(rates[0]).not.toEqual(rates[1]);
});

const NETWORKS = networksOf([], "quick");

/** Three visits of each arm on each of two networks: always offering halves the time on the first, and doubles it on the second; ours follows. */
function rowsOf(change: (row: RealRow) => Partial<RealRow> = () => ({})): RealRow[] {
  const random = seededRandom("rows");
  return NETWORKS.flatMap(({ network: { name: network } }, place) =>
    ARMS.flatMap((arm) =>
      [0, 1, 2].flatMap((visit) =>
        Array.from({ length: PAGES }, (_, i) => {
          const isOffered = arm === "always-offer" || (arm === "adaptive" && place === 0);
          const factor = isOffered ? (place === 0 ? 0.5 : 2) : 1;
          const id = `${network}/${arm}/${visit}/${i + 1}`;
          const loadMs = 100 * factor * (1 + random() / 1_000);
          const row = {
            id,
            network,
            congestion: OPTIONS.congestion,
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
  );
}

const summaryOf = (rows: readonly RealRow[]) => networksSummary({ rows, command: "", starts: [] }, NETWORKS, OPTIONS);

it("says what each contender gains, and ours over the best fixed choice", () => {
  const { scores, places } = summaryOf(rowsOf());
  const gains = Object.fromEntries(
    scores[0]?.contenders.map(({ contender, gain }) => [contender, gain.estimate]) ?? [],
  );
  expect(gains["never"]).toBe(0);
  expect(gains["always"]).toBeCloseTo(0, 2);
  expect(gains["ours"]).toBeCloseTo(Math.log(2) / 2, 2);
  expect(gains["published line"]).toBeCloseTo(0, 2);
  // Where UDP is treated as TCP, one bit is always, and ours is as good.
  expect(scores[1]?.contenders.map(({ oursAhead }) => oursAhead.estimate.toFixed(1))).toEqual(
    [0.7, 0, 0, 0.7, 0].map((ahead) => expect.stringMatching(`^-?${ahead.toFixed(1)}$`)),
  );
  expect(places.map(({ best }) => best)).toEqual(["always-offer", "fixed-h2"]);
  for (const { ours } of places) expect(ours.estimate).toBeCloseTo(1, 2);
  expect(places[0]?.overH3).toEqual([1, 1, 1]);
});

it("counts a page that never came with all its time, and leaves out a network with one whole visit", () => {
  const failed = summaryOf(
    rowsOf(({ arm, page }) => (arm === "published" && page === 2 ? { loadMs: null, outcome: "timeout" } : {})),
  );
  expect(failed.places[0]?.ms.published).toBeGreaterThan(500);
  const short = summaryOf(rowsOf().filter(({ visit, page }) => visit === 0 || page < PAGES));
  expect(short.places).toEqual([]);
  expect(short.left).toHaveLength(2);
});
