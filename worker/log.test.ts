import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { LimitedLog } from "./log.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it("writes one line in ten seconds, also if the clock is set back", () => {
  const written = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const log = new LimitedLog("It failed");
  for (const ms of [0, 1, 9_998, 1, -3_600_000, 1]) {
    vi.setSystemTime(Date.now() + ms);
    log.write(new Error("reason"));
  }
  expect(written.mock.calls).toEqual([["It failed: reason"], ["It failed: reason"], ["It failed: reason"]]);
});
