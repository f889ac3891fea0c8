import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { buildClock } from "./clock.ts";

it("shifts the wall clock of a program, and not the machine's", () => {
  const folder = mkdtempSync(join(tmpdir(), "h3-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const clock = buildClock(folder);
  const [program, ...args] = clock.runner;
  for (const seconds of [0, 86_400, -86_400]) {
    clock.shift(seconds);
    const before = Math.floor(Date.now() / 1000);
    const said = Number(execFileSync(program, [...args, "date", "+%s"], { encoding: "utf8" }));
    expect(said - before - seconds).toBeGreaterThanOrEqual(0);
    expect(said - before - seconds).toBeLessThanOrEqual(2);
  }
});
