import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { browserBytes } from "../../model/browser-pages.ts";
import { type BrowserClient, pageOf } from "../../model/clients.ts";
import { csvOf } from "../../model/testing.ts";
import { BROWSER_PAGE, browserGainsIn, browserGainsOf } from "./browsers.ts";
import { roundTripGain } from "./lean.ts";

const CLIENTS: readonly BrowserClient[] = [5, 20, 60, 150].flatMap((rttMs) =>
  [600_000, 2_000_000].map((bytes) => ({
    name: `${rttMs} ms, ${bytes}`,
    mix: "",
    rttMs,
    lossRatio: 0,
    rateMbps: 50,
    bytes,
    files: 10,
    browser: "chromium",
    device: "fast",
    udpLossRatio: 0,
    weight: 1,
  })),
);

/** Pages that gain what two figures say: next pages 0.6 a round trip less 0.2, returns 0.4 less 0.3; the first one loses. */
function rowsOf(clients: readonly BrowserClient[], more: (client: BrowserClient) => number = () => 0) {
  return clients.flatMap((client) =>
    [1, 2, 3, 4].flatMap((page) => {
      const bytes = browserBytes(pageOf(client));
      const gain =
        page === 1
          ? -1
          : page === 4
            ? roundTripGain(0.4, "return", client.rttMs, bytes) - 0.3
            : roundTripGain(0.6, "next", client.rttMs, bytes) - 0.2;
      const row = { client: client.name, visit: 0, page };
      return [
        { ...row, arm: "fixed-h2", loadMs: 1_000 },
        { ...row, arm: "always-offer", loadMs: 1_000 * Math.exp(-gain - more(client)) },
        { ...row, arm: "adaptive", loadMs: 1 },
      ];
    }),
  );
}

describe("browserGainsOf", () => {
  it("finds again what a round trip gains, and what a page takes longer", () => {
    const { next, return: again } = browserGainsOf(CLIENTS, rowsOf(CLIENTS));
    expect([next.gain, next.cost, again.gain, again.cost]).toEqual(
      [0.6, 0.2, 0.4, 0.3].map((one) => expect.closeTo(one, 6)),
    );
    expect(next.se).toBeCloseTo(0, 6);
  });

  it("counts a client as often as it visits, and says how far pages are from the figures", () => {
    const heavy = CLIENTS.map((client) => ({ ...client, weight: client.rttMs === 5 ? 1_000 : 1 }));
    const rows = rowsOf(heavy, ({ rttMs }) => (rttMs === 5 ? 0.1 : 0));
    const near = heavy.filter(({ rttMs }) => rttMs === 5);
    const lossOf = (clients: readonly BrowserClient[]): number => {
      const { next } = browserGainsOf(clients, rows);
      return roundTripGain(next.gain, "next", 5, browserBytes(pageOf({ bytes: 600_000 }))) - next.cost;
    };
    expect(lossOf(heavy)).toBeCloseTo(lossOf(near), 2);
    expect(browserGainsOf(heavy, rows).next.se).toBeGreaterThan(0.001);
  });

  it("leaves out whose UDP is policed or blocked, and who loses much; one page counts for no more than a bound", () => {
    const [first] = CLIENTS as [BrowserClient];
    const others = [{ udpLossRatio: 0.1 }, { udpLossRatio: 1 }, { lossRatio: 0.01 }].map((change, i) => ({
      ...first,
      ...change,
      name: `other ${i}`,
    }));
    const all = [...CLIENTS, ...others];
    const rows = rowsOf(all, ({ name }) => (name.startsWith("other") ? -5 : 0));
    expect(browserGainsOf(all, rows).next.cost).toBeCloseTo(0.2, 6);
    const slower = (by: number) => rowsOf(CLIENTS, ({ name }) => (name === first.name ? -by : 0));
    expect(browserGainsOf(CLIENTS, slower(4))).toEqual(browserGainsOf(CLIENTS, slower(40)));
  });
});

it("says so where a run has no client by whom policies are made", () => {
  const folder = mkdtempSync(join(tmpdir(), "h3-browsers-"));
  try {
    writeFileSync(join(folder, "rows.csv"), csvOf(rowsOf(CLIENTS), BROWSER_PAGE));
    const recorded = "bench/results/browser-clients-calibration";
    expect(() => browserGainsIn([recorded, folder])).toThrow(`${folder} has no pages of the clients by whom`);
    // Each client counts once, whatever run it is in.
    const [first, both] = [[recorded], [recorded, `${recorded}-2`]].map(browserGainsIn);
    expect(both).not.toEqual(first);
    expect(browserGainsIn([`${recorded}-2`, recorded]).next.gain).toBeCloseTo(both?.next.gain ?? 0, 6);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
