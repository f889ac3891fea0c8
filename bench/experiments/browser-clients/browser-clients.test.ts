import { expect, it } from "vitest";
import {
  type BrowserClient,
  CALIBRATING_DRAWS,
  JUDGING_DRAW,
  pageOf,
  readBrowserClients,
} from "../../model/clients.ts";
import { blankRow } from "../../model/row-schema.ts";
import { visitsOf } from "./experiment.ts";
import { ARMS, CLIENTS_ROW, type ClientsRow, clientsSummary, PAGES } from "./report.ts";

const STARTS = [{ at: "2026-11-27T00:00:00Z", machine: { commit: "" } }] as never;
const CLIENT: BrowserClient = {
  name: "",
  mix: "",
  rttMs: 20,
  lossRatio: 0,
  rateMbps: 50,
  bytes: 1_000_000,
  files: 10,
  browser: "chromium",
  device: "fast",
  udpLossRatio: 0,
  weight: 1,
};
/** Always halves the time of one of three usual clients and doubles that of a fast one; ours offers to the first alone. */
const CLIENTS: readonly BrowserClient[] = [
  { ...CLIENT, name: "gains", weight: 3 },
  { ...CLIENT, name: "loses", rateMbps: 300, browser: "firefox", device: "half a core" },
];

function rowsOf(change: (row: ClientsRow) => Partial<ClientsRow> = () => ({})): ClientsRow[] {
  return CLIENTS.flatMap(({ name }) =>
    ARMS.flatMap((arm) =>
      Array.from({ length: PAGES }, (_, i) => {
        const isOver = arm === "always-offer" || (arm === "adaptive" && name === "gains");
        const row = blankRow(CLIENTS_ROW, {
          id: `${name}/${arm}/0/${i + 1}`,
          outcome: "ok",
          congestion: "cubic",
          client: name,
          arm,
          visit: 0,
          page: i + 1,
          loadMs: 100 * (isOver && i > 0 ? (name === "gains" ? 0.5 : 2) : 1),
        });
        return { ...row, ...change(row) };
      }),
    ),
  );
}

const summaryOf = (rows: readonly ClientsRow[]) =>
  clientsSummary({ rows, command: "", starts: STARTS }, CLIENTS, { seed: 1, draw: 3 });

it("makes one visit of each client and arm a round, over the client's network", () => {
  const visits = visitsOf({ draw: 3, clients: 5, visits: 2, seed: 1, quick: false });
  expect(new Set(visits.map(({ id }) => id)).size).toBe(2 * 5 * ARMS.length);
  const drawn = readBrowserClients(3).slice(0, 5);
  for (const { client, place } of visits) {
    expect(drawn).toContainEqual(client);
    expect(place.network).toMatchObject({ rateMbps: client.rateMbps, udpLossRatio: client.udpLossRatio });
  }
});

it("judges by other clients than those by whom the policy was made", () => {
  const draws = [1, 2, 3, JUDGING_DRAW].map((draw) => readBrowserClients(draw).map(({ name }) => name));
  expect(draws.map(({ length }) => length)).toEqual([112, 112, 144, 144]);
  expect(new Set(draws.flat()).size).toBe(112 + 112 + 144 + 144);
  expect(CALIBRATING_DRAWS).not.toContain(JUDGING_DRAW);
});

it("loads the page whose size is nearest", () => {
  expect([100_000, 800_000, 1_800_000, 9_000_000].map((bytes) => pageOf({ bytes }))).toEqual([
    "small",
    "small",
    "page",
    "large",
  ]);
});

it("weighs clients as often as they visit, page by page", () => {
  const { mixes, pages, groups } = summaryOf(rowsOf());
  const [described] = mixes;
  // Three of four pages change: three visitors of four gain ln 2, one loses it.
  expect(described?.always.estimate).toBeCloseTo(0.75 * Math.LN2 * 0.5);
  expect(described?.ours.estimate).toBeCloseTo(0.75 * Math.LN2 * 0.75);
  expect(described?.aheadOfBit.estimate).toBeCloseTo(0.75 * Math.LN2 * 0.25);
  expect(pages.map(({ always }) => always.estimate)).toEqual([
    0,
    ...Array<unknown>(3).fill(expect.closeTo(Math.LN2 / 2)),
  ]);
  expect(groups.map(({ name, share }) => [name, share])).toEqual([
    ["above 200 Mbit/s", 0.25],
    ["other networks", 0.75],
    ["Chromium, fast", 0.75],
    ["Firefox, half a core", 0.25],
  ]);
});

it("gives a kind of visitors the share that a mix says, and chooses one bit for it", () => {
  const { mixes } = summaryOf(rowsOf());
  const of = (name: string) => mixes.find(({ mix }) => mix === name);
  expect(of("half in Firefox")?.ours.estimate).toBeCloseTo(0.75 * Math.LN2 * 0.5);
  expect(of("half in Firefox")?.always.estimate).toBeCloseTo(0);
  expect(of("a fifth above 200 Mbit/s")?.ours.estimate).toBeCloseTo(0.75 * Math.LN2 * 0.8);
  expect(of("a fifth above 200 Mbit/s")?.bit).toBe("always-offer");
  // Nobody's UDP is policed here.
  expect(of("no policed UDP")).toBeUndefined();
});

it("leaves out the half with the most late packets, in the mix that says so", () => {
  const late = rowsOf(({ client, page }) => ({ lateRatio: client === "gains" && page === 2 ? 0.12 : 0 }));
  const { lateMedian, mixes } = summaryOf(late);
  expect(lateMedian).toBeCloseTo(0.12 / PAGES / 2);
  expect(mixes.at(-1)?.always.estimate).toBeCloseTo(-0.75 * Math.LN2);
});

it("counts a page that did not load with what it may take, and no client that lacks one", () => {
  const failed = summaryOf(rowsOf(({ arm, page }) => (arm === "always-offer" && page === 2 ? { loadMs: null } : {})));
  expect(failed.mixes[0]?.always.estimate).toBeLessThan(-1);
  expect(summaryOf(rowsOf().filter(({ id }) => id !== "gains/adaptive/0/3")).clients).toBe(1);
});
