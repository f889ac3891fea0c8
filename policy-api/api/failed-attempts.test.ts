import { expect, it, vi } from "vitest";
import { ATTEMPTS_MAX, FailedAttempts } from "./failed-attempts.ts";

const T = 1_000_000;

it("lets an address try ten times in a minute, and not once more until the minute is over", async () => {
  const attempts = new FailedAttempts();
  for (let i = 0; i < ATTEMPTS_MAX; i++) {
    expect(await attempts.waitMs("192.0.2.7", T + i)).toBe(0);
    await attempts.add("192.0.2.7", T + i);
  }
  expect(await attempts.waitMs("192.0.2.7", T + 10_000)).toBe(50_000);
  expect(await attempts.waitMs("192.0.2.8", T + 10_000)).toBe(0);
  expect(await attempts.waitMs("192.0.2.7", T + 59_999)).toBe(1);
  expect(await attempts.waitMs("192.0.2.7", T + 60_000)).toBe(0);
  await attempts.add("192.0.2.7", T + 60_000);
  expect(await attempts.waitMs("192.0.2.7", T + 60_001)).toBe(0);
});

it("keeps no address as it is", async () => {
  const set = vi.spyOn(Map.prototype, "set");
  await new FailedAttempts().add("192.0.2.7", T);
  expect(set).toHaveBeenCalledTimes(1);
  expect(JSON.stringify(set.mock.calls)).not.toContain("192.0.2.7");
  set.mockRestore();
});

it("follows a bounded number", async () => {
  const attempts = new FailedAttempts();
  for (let i = 0; i < ATTEMPTS_MAX; i++) await attempts.add("the-first", T);
  for (let i = 0; i < 10_000; i++) await attempts.add(`address-${i}`, T);
  // The longest known gave way to the newest.
  expect(await attempts.waitMs("the-first", T)).toBe(0);
});
