import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { childrenOf, cpuMs, statTicks } from "./cores.ts";

// proc(5): pid, (comm), state, then ten fields before utime and stime.
it.each(["edge", "a b", "1) S 99 (x", "nginx: master"])("finds utime and stime behind the name %j", (name) => {
  expect(statTicks(`17 (${name}) S 1 17 17 0 -1 4194304 100 0 0 0 250 50 9 9 20 0 5 0 100`)).toBe(300);
});

it("has by thread what the kernel says of the process in ticks", () => {
  const stat = (): number => statTicks(readFileSync(`/proc/${process.pid}/stat`, "utf8")) * 10;
  const before = stat();
  const between = cpuMs([process.pid]);
  // Each field is cut off to whole ticks, and a thread that has ended is in one sum only.
  expect(between).toBeGreaterThan(before * 0.9 - 20);
  expect(between).toBeLessThan(stat() + 20);
});

it("counts this process, and a process that is gone as nothing", () => {
  const before = cpuMs([process.pid]);
  for (const endMs = Date.now() + 50; Date.now() < endMs;);
  expect(cpuMs([process.pid])).toBeGreaterThan(before);
  expect(cpuMs([2 ** 30])).toBe(0);
});

it("finds children", () => {
  const child = spawn("sleep", ["60"]);
  try {
    expect(childrenOf(process.pid)).toContain(child.pid);
  } finally {
    child.kill();
  }
});
