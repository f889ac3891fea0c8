import { expect, it } from "vitest";
import { duration, progressLine, startProgress } from "../../base/progress.ts";

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

it("stays in one line of a terminal, and is a line now and then elsewhere", () => {
  let nowMs = 0;
  const shown = (isTTY: boolean): string => {
    let text = "";
    const write = (part: string): boolean => ((text += part), true);
    const progress = startProgress(0, () => nowMs, { write, isTTY, columns: 60 });
    for (const [atMs, share] of [
      [0, 0],
      [1_000, 0.25],
      [31_000, 0.5],
      [32_000, 1],
    ] as const) {
      nowMs = atMs;
      progress.show(share, "a part whose name is long");
    }
    progress.end();
    return text;
  };
  expect(
    shown(true)
      .split("\r")
      .map((line) => line.replace("\u001B[K", "").trimEnd().length <= 59),
  ).not.toContain(false);
  expect(shown(true).endsWith("\n")).toBe(true);
  expect(shown(false).match(/\d+ %/g)).toEqual(["0 %", "50 %", "100 %"]);
});
