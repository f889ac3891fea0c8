import { describe, expect, it } from "vitest";
import { nextRound } from "./schedule.ts";
import { NETWORK_NAMES, settingsOf } from "./settings.ts";
import { exampleRow } from "./testing.ts";

const [near] = settingsOf({ quick: true, networks: NETWORK_NAMES });
if (near === undefined) throw new Error("the quick experiment has a setting");

const rows = (n: number, given: Parameters<typeof exampleRow>[0] = {}) =>
  Array.from({ length: n }, (_, round) => exampleRow({ round, ...given }));

describe("nextRound", () => {
  it("has each client and protocol of each setting once, in an order of its own each round", () => {
    const settings = settingsOf({ quick: false, networks: NETWORK_NAMES });
    const orders = [0, 1, 2].map((round) => nextRound(settings, [], round, 1).map(({ id }) => id));
    for (const [round, ids] of orders.entries()) {
      expect(new Set(ids).size).toBe(settings.length * 4);
      expect(ids.every((id) => id.endsWith(`-${round}`))).toBe(true);
    }
    const kinds = orders.map((ids) => ids.map((id) => id.replace(/-\d+$/, "")).join());
    expect(new Set(kinds).size).toBe(3);
    expect(nextRound(settings, [], 0, 1).map(({ id }) => id)).toEqual(orders[0]);
  });

  it.each([
    ["as many as wanted", rows(3), false],
    ["one too few", rows(2), true],
    ["a dropped one", [...rows(2), ...rows(1, { dropped: "busy" })], true],
    ["a failed one", [...rows(2), ...rows(1, { outcome: "failed" })], true],
    ["twice as many as wanted, none of which counts", rows(6, { dropped: "late" }), false],
  ] as const)("after %s", (_, done, more) => {
    const ids = nextRound([near], done, 9, 1).map(({ id }) => id);
    expect(ids.includes("near-h2-ours-9")).toBe(more);
    expect(ids).toEqual(expect.arrayContaining(["near-h2-theirs-9", "near-h3-ours-9", "near-h3-theirs-9"]));
  });
});
