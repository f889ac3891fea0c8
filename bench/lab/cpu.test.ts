import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { childrenOf, cpuMs } from "./cores.ts";

it("has by thread what the kernel says of the process in ticks", () => {
  // utime and stime (proc(5)), in ticks of 10 ms.
  const stat = (): number => {
    const fields = readFileSync(`/proc/${process.pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  };
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
