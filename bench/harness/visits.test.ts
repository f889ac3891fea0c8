import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { Turns } from "./visits.ts";

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
