import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { csvParseRows } from "d3-dsv";
import { expect, it } from "vitest";
import { bench, inRun, killedAt, leftBy, lines, processesWith, succeeded, untilRows, useRuns } from "./runs.ts";

// How a run may end before it is done: what is kept, what is said, and that nothing is left.

useRuns();

it("goes on after kill -9, and then nothing is left of either start", async () => {
  const options = ["smoke", "--quick", "--runs", "2", "--bytes", "20000"];
  const killed = await killedAt(5, bench(...options));
  const before = lines();
  expect(await succeeded(bench(...options))).toContain("Going on with smoke");
  expect(lines().slice(0, before.length)).toEqual(before);
  const ids = lines().map((row) => row.slice(0, row.indexOf(",")));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThanOrEqual(2 * 11 * 2);
  expect(await leftBy(killed)).toEqual([]);
});

it("Ctrl-C keeps the rows, says so, and leaves nothing", async () => {
  const run = bench("smoke", "--bytes", "20000");
  await untilRows(3, run);
  run.child.kill("SIGINT");
  const { code, output } = await run.ended;
  expect(code).toBe(130);
  expect(output).toMatch(/Interrupted\. \d+ rows are kept: the same command goes on\./);
  expect(lines().length).toBeGreaterThanOrEqual(3);
  expect(await leftBy(run)).toEqual([]);
});

it("ends when a server dies, says which, keeps the rows, and calls no load failed for it", async () => {
  const run = bench("smoke", "--bytes", "20000");
  await untilRows(3, run);
  const origins = processesWith(`bench/lab/origin.ts ${tmpdir()}/h3bench-${run.child.pid}-run/origin.sock`);
  expect(origins).toHaveLength(1);
  process.kill(origins[0] ?? 0, "SIGKILL");
  const { code, output } = await run.ended;
  expect(code).toBe(1);
  expect(output).toContain("The origin ended by itself (signal SIGKILL).");
  expect(lines().length).toBeGreaterThanOrEqual(3);
  expect(lines().filter((row) => row.includes(",failed,"))).toEqual([]);
  expect(await leftBy(run)).toEqual([]);
});

it("ends when the disk is full, says so, and keeps the rows whole", async () => {
  mkdirSync(inRun());
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=24k", "tmpfs", inRun()]);
  try {
    const run = bench("smoke", "--bytes", "20000");
    const { code, output } = await run.ended;
    expect(code).toBe(1);
    expect(output).toMatch(/rows\.csv cannot be written: ENOSPC.*The rows so far are kept\./);
    const whole = lines();
    expect(whole.length).toBeGreaterThan(0);
    const width = readFileSync(inRun("rows.csv"), "utf8").split("\n")[0]?.split(",").length;
    for (const row of csvParseRows(whole.join("\n"))) expect(row).toHaveLength(width ?? 0);
    expect(await leftBy(run)).toEqual([]);
  } finally {
    execFileSync("umount", [inRun()]);
  }
});
