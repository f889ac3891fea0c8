import { describe, expect, it } from "vitest";
import type { Population } from "../../model/population.ts";
import { drawBrowserClients, drawClients, radicalInverse } from "./draw.ts";

const POPULATION: Population = {
  description: {
    mixes: {
      near: {
        weight: 3,
        rttMs: { lognormal: { median: 20, sigma: 0.5 }, bounds: [5, 100] },
        lossRatio: {
          strata: [
            [0, 0.0005, 0.8],
            [0.0005, 0.05, 0.2],
          ],
        },
        rateMbps: { lognormal: { median: 50, sigma: 1 }, bounds: [5, 1_000] },
      },
      tested: { weight: 1, lossRatio: { strata: [[0, 0.01, 1]] }, rttAndRate: { file: "", columns: ["", ""] } },
    },
    page: {
      bytes: { lognormal: { median: 1e6, sigma: 0.5 }, bounds: [5e5, 2e6] },
      files: { lognormal: { median: 20, sigma: 0.5 }, bounds: [1, 60] },
    },
    visit: {
      pages: { "1": 1 },
      pauseS: { lognormal: { median: 20, sigma: 1 }, bounds: [1, 600] },
      returns: [],
      newPathOnReturn: 0,
    },
    udp: { blocked: 0, policed: 0, policedLossRatio: [0.02, 0.2] },
    behindSharedAddress: { share: 0, devices: [2, 8] },
  },
  tests: { near: [], tested: [{ rttMs: 80, rateMbps: 10 }] },
};

describe("drawClients", () => {
  const clients = drawClients(POPULATION, 400);

  it("draws each part as often as it weighs", () => {
    expect(clients.filter(({ mix }) => mix === "near").length / 400).toBeCloseTo(0.75, 1);
  });

  it("keeps to the bounds, and to the machine's", () => {
    for (const { rttMs, rateMbps, bytes, files } of clients.filter(({ mix }) => mix === "near")) {
      expect(rttMs).toBeGreaterThanOrEqual(5);
      expect(rttMs).toBeLessThanOrEqual(100);
      expect(rateMbps).toBeLessThanOrEqual(200);
      expect(bytes).toBeGreaterThanOrEqual(5e5);
      expect(files).toBeGreaterThanOrEqual(1);
    }
  });

  it("lets half of the first stratum lose nothing, and the others what the strata say", () => {
    const losses = clients.filter(({ mix }) => mix === "near").map(({ lossRatio }) => lossRatio);
    const share = (test: (loss: number) => boolean) => losses.filter(test).length / losses.length;
    expect(share((loss) => loss === 0)).toBeCloseTo(0.4, 1);
    expect(share((loss) => loss > 0.0005)).toBeCloseTo(0.2, 1);
    expect(Math.max(...losses)).toBeLessThanOrEqual(0.05);
  });

  it("spreads a speed test over lines like it", () => {
    const tested = clients.filter(({ mix }) => mix === "tested");
    expect(new Set(tested.map(({ rttMs }) => rttMs)).size).toBeGreaterThan(10);
    for (const { rttMs } of tested) expect(Math.abs(Math.log(rttMs / 80))).toBeLessThan(0.6);
  });

  it("gives each a name of its own, and the same clients again", () => {
    expect(new Set(clients.map(({ name }) => name)).size).toBe(400);
    expect(drawClients(POPULATION, 400)).toEqual(clients);
    expect(drawClients(POPULATION, 10)).toEqual(clients.slice(0, 10));
  });
});

it.each([
  [1, 2, 1, 0.5],
  [6, 2, 1, 0.375],
  [5, 3, 1, 7 / 9],
  [5, 3, 2, 5 / 9],
])("radicalInverse: %d in base %d, digits times %d", (place, base, factor, expected) => {
  expect(radicalInverse(place, base, factor)).toBeCloseTo(expected, 12);
});

describe("drawBrowserClients", () => {
  const { description } = POPULATION;
  const udp = { blocked: 0.03, policed: 0.02, policedLossRatio: [0.02, 0.2] } as const;
  const clients = drawBrowserClients({ ...POPULATION, description: { ...description, udp } }, 1_000);
  const shareOf = (is: (client: (typeof clients)[number]) => boolean): number => {
    const weigh = (own: typeof clients): number => own.reduce((sum, { weight }) => sum + weight, 0);
    return weigh(clients.filter(is)) / weigh(clients);
  };

  it("draws from the same lines, later ones, and faster ones", () => {
    const lines = drawClients(POPULATION, 1_256).slice(256);
    expect(clients.map(({ name, rttMs }) => [name, rttMs])).toEqual(lines.map(({ name, rttMs }) => [name, rttMs]));
    expect(Math.max(...clients.map(({ rateMbps }) => rateMbps))).toBeGreaterThan(200);
  });

  it("draws rare kinds more often than they visit, and lets them weigh less", () => {
    const firefox = clients.filter(({ browser }) => browser === "firefox");
    expect(firefox.length / clients.length).toBeCloseTo(0.15, 2);
    expect(shareOf(({ browser }) => browser === "firefox")).toBeCloseTo(0.05, 2);
    expect(shareOf(({ device }) => device === "fast")).toBeCloseTo(0.7, 1);
    expect(shareOf(({ udpLossRatio }) => udpLossRatio === 1)).toBeCloseTo(0.03, 2);
    const policed = clients.filter(({ udpLossRatio }) => udpLossRatio > 0 && udpLossRatio < 1);
    expect(policed.length / clients.length).toBeCloseTo(0.06, 2);
    expect(shareOf((client) => policed.includes(client))).toBeCloseTo(0.02, 2);
    for (const { udpLossRatio } of policed) {
      expect(udpLossRatio).toBeGreaterThanOrEqual(0.02);
      expect(udpLossRatio).toBeLessThanOrEqual(0.2);
    }
  });
});
