import { describe, expect, it } from "vitest";
import type { OverheadArm } from "../../lab/loopback-arms.ts";
import type { OverheadRow } from "./row.ts";
import type { Size } from "../../model/request-plan.ts";
import { clientAddresses, CLIENTS } from "../../lab/loopback-clients.ts";
import { measurements, openRate } from "./schedule.ts";
import { exampleOverheadRow } from "./testing.ts";

const ARMS = ["bare", "pass-through", "adaptive"] as const;

describe("measurements", () => {
  const all = measurements(ARMS, 4, 1);

  it("has every arm once a round, size and loop, and all closed loops first", () => {
    expect(new Set(all.map(({ id }) => id)).size).toBe(4 * 2 * 2 * ARMS.length);
    expect(all.map(({ loop }) => loop)).toEqual(all.map((_, i) => (i < all.length / 2 ? "closed" : "open")));
    for (let i = 0; i < all.length; i += ARMS.length) {
      const group = all.slice(i, i + ARMS.length);
      expect(group.map(({ arm }) => arm).toSorted()).toEqual([...ARMS].toSorted());
      expect(new Set(group.map(({ size, round }) => `${size}/${round}`)).size).toBe(1);
    }
  });

  it("keeps a round's order whatever the number of rounds, and has another for another round", () => {
    expect(all).toEqual(measurements(ARMS, 4, 1));
    const more = measurements(ARMS, 9, 1).map(({ id }) => id);
    const few = measurements(ARMS, 2, 1).map(({ id }) => id);
    expect(more.filter((id) => few.includes(id))).toEqual(few);
    const orders = new Set(
      more
        .map((id) => id.split("/")[2])
        .join(",")
        .match(/(?:[a-z-]+,){3}/g),
    );
    expect(orders.size).toBeGreaterThan(1);
  });
});

describe("openRate", () => {
  const row = (arm: OverheadArm, round: number, requestsPerSecond: number, size: Size = "small"): OverheadRow =>
    exampleOverheadRow({ loop: "closed", size, arm, round, requestsPerSecond });

  it("is 60 % of the slowest arm's median, by size", () => {
    const rows = [
      ...[1000, 5000, 1100].map((rps, round) => row("bare", round, rps)),
      ...[500, 10, 600].map((rps, round) => row("adaptive", round, rps)),
      row("adaptive", 0, 5, "large"),
    ];
    expect(openRate(rows, "small")).toBe(300);
    expect(openRate(rows, "large")).toBe(3);
  });

  it("stays what it was once a row has it", () => {
    const open = exampleOverheadRow({ loop: "open", size: "small", arm: "bare", rate: 123 });
    expect(openRate([row("bare", 0, 1000), open], "small")).toBe(123);
  });
});

it("gives each client an address in a network of its own, and no run another's", () => {
  const most = CLIENTS.open.small;
  const addresses = [0, 1, 253].flatMap((run) => clientAddresses(run, most));
  expect(new Set(addresses.map((address) => address.slice(0, address.lastIndexOf(".")))).size).toBe(3 * most);
  for (const address of addresses) {
    const bytes = address.split(".").map(Number);
    expect(bytes[0]).toBe(127);
    expect(Math.max(...bytes)).toBeLessThanOrEqual(255);
    // The servers' own.
    expect(address).not.toBe("127.0.0.1");
  }
});
