import { expect, it } from "vitest";
import { duration, progressLine } from "./progress.ts";

it.each([
  [0, 0, 0, "[..............................]   0 %  time left unknown yet  x"],
  [0.5, 0, 60_000, "[###############...............]  50 %  about 60 s left  x"],
  // Half was done before this start: what is left takes as long as the quarter that was done now.
  [0.75, 0.5, 60_000, "[#######################.......]  75 %  about 60 s left  x"],
  [1, 0, 60_000, "[##############################] 100 %  done  x"],
])("%d of which %d before, after %d ms: %s", (share, before, elapsedMs, line) => {
  expect(progressLine(share, before, elapsedMs, "x")).toBe(line);
});

it.each([
  [45_000, "45 s"],
  [12 * 60_000, "12 min"],
  [125 * 60_000, "2 h 5 min"],
])("%d ms is %s", (ms, text) => {
  expect(duration(ms)).toBe(text);
});
