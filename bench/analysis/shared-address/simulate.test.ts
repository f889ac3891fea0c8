import { describe, expect, it } from "vitest";
import { seededRandom } from "../statistics/random.ts";
import { type Address, play } from "./simulate.ts";

const seen = (over: Partial<Address>, hours = 48) => {
  const address = { visitsPerHour: 60, browsers: 20, able: 1, maS: 60, ...over };
  const { pausedFirst, firstPages, overQuic, ablePages, ...rest } = play(address, hours, seededRandom(1, "shared"));
  return { ...rest, paused: pausedFirst / firstPages, overQuic: overQuic / ablePages };
};

describe("behind a shared address", () => {
  it.each([
    [10, 5, 60],
    [60, 20, 60],
    [200, 100, 60],
    [500, 100, 60],
    [10, 100, 3_600],
    [200, 20, 3_600],
  ])("%i visits an hour of %i able browsers are not paused, ma %i", (visitsPerHour, browsers, maS) => {
    const { paused, overQuic } = seen({ visitsPerHour, browsers, maS });
    expect(paused).toBeLessThan(0.003);
    expect(overQuic).toBeGreaterThan(0.95);
  });

  it.each([60, 3_600])("where every second browser is able hardly any visit is paused, ma %i", (maS) => {
    const { paused, overQuic } = seen({ able: 0.5, maS });
    expect(paused).toBeLessThan(0.02);
    expect(overQuic).toBeGreaterThan(0.93);
  });

  it.each([
    [1, 60],
    [60, 60],
    [500, 3_600],
  ])("where UDP is blocked offers pause after some pages, %i visits an hour, ma %i", (visitsPerHour, maS) => {
    const { pagesToPause, vainOffers } = seen({ able: 0, visitsPerHour, maS });
    expect(pagesToPause).toBeLessThanOrEqual(16);
    expect(vainOffers).toBeLessThan(45);
  });

  it("where UDP is blocked from some hour on, offers pause a day later", () => {
    const { paused } = seen({ blockedAfterMs: 12 * 3_600_000 }, 72);
    // 36 of 72 hours.
    expect(paused).toBeGreaterThan(0.48);
    expect(paused).toBeLessThan(0.5);
  });
});
