import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Origin } from "../lab/lane.ts";
import type { Arm } from "../model/arm.ts";
import type { Network } from "../model/cell.ts";
import type { Congestion } from "../model/congestion.ts";
import { Turns, urlOf } from "./visits.ts";

it("lets nobody begin before the one before has ended, failed or not", async () => {
  const turns = new Turns();
  const told: string[] = [];
  const doing =
    (name: string, fails = false) =>
    async (): Promise<string> => {
      told.push(`${name} begins`);
      await setImmediate();
      told.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
  const [a, b, c] = await Promise.allSettled([
    turns.take(doing("a")),
    turns.take(doing("b", true)),
    turns.take(doing("c")),
  ]);
  expect([a.status, b.status, c.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(told).toEqual(["a", "b", "c"].flatMap((name) => [`${name} begins`, `${name} ends`]));
});

it("lets the next begin where a turn takes longer than it may keep others waiting", async () => {
  const turns = new Turns();
  const slow = Promise.withResolvers<string>();
  const first = turns.take(() => slow.promise, 1);
  expect(await turns.take(() => Promise.resolve("second"))).toBe("second");
  slow.resolve("first");
  expect(await first).toBe("first");
});

it("loads a visit's page from the server of its own place, whatever the lane's visit before was", () => {
  const network: Network = { name: "near", rateMbps: 50, delayMs: 1, lossRatio: 0, queueBytes: 1e6 };
  const origin = (_: Arm, congestion: Congestion) => ({ port: congestion === "bbr" ? 8444 : 8443 }) as Origin;
  const urls = (["cubic", "bbr"] as const).map((congestion) =>
    urlOf({ id: congestion, place: { network, congestion }, arm: "bare", page: "page" }, { origin }),
  );
  expect(urls).toEqual(["https://h3.test:8443/browser/page", "https://h3.test:8444/browser/page"]);
});
