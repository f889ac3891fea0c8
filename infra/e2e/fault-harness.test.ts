// Only here: the harness itself: faults and an interruption, each for a short time.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { ROOT } from "../../base/root.ts";

const PROGRAM = join(ROOT, "infra/faults/main.ts");
/** Faults that need no root, one of each kind. supervision.test.ts has the others of programs. */
const FAULTS = ["workerd-killed", "origin-dead", "origin-lying"];

function leftBehind(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith("h3-faults-"));
}

/** The processes of a group that still run. One that has ended and that nobody has asked about is not among them. */
function runningOf(group: number): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const [state, , itsGroup] = readFileSync(`/proc/${pid}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ");
      return Number(itsGroup) === group && state !== "Z";
    } catch {
      return false;
    }
  });
}

it("1,800 requests and three faults: nobody gets a wrong answer", { timeout: 180_000 }, async () => {
  const before = leftBehind();
  const { stdout } = await promisify(execFile)(process.execPath, [
    PROGRAM,
    "--requests",
    "1800",
    "--faults",
    FAULTS.join(","),
  ]);
  for (const name of FAULTS) {
    const [, requests, right, wrong] = new RegExp(`^${name} +(\\d+) +(\\d+) +(\\d+)`, "m").exec(stdout) ?? [];
    expect(Number(requests), `${name}: requests`).toBeGreaterThan(200);
    expect(Number(right), `${name}: right`).toBeGreaterThan(100);
    expect(wrong, `${name}: wrong`).toBe("0");
  }
  // While the origin is dead, visitors get our 502.
  expect(/^origin-dead +\d+ +\d+ +0 +\d+ +0 +([1-9]\d*) /m.test(stdout), stdout).toBe(true);
  expect(stdout).toContain("Every visitor got the origin's response");
  expect(leftBehind()).toEqual(before);
});

it("an interrupted run leaves nothing behind, and is no success", async () => {
  const before = leftBehind();
  const run = spawn(process.execPath, [PROGRAM, "--faults", "workerd-stopped"], {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const said = text(run.stderr);
  for await (const chunk of run.stdout as AsyncIterable<Buffer>)
    if (chunk.toString().includes("workerd-stopped")) break;
  const group = run.pid ?? 0;
  process.kill(-group, "SIGINT");
  const [code] = (await once(run, "exit")) as [number | null];
  expect(code).toBe(1);
  expect(await said).toContain("Interrupted: nothing is left behind");
  expect(leftBehind()).toEqual(before);
  // The kernel ends the children of a killed process a moment after it.
  await expect.poll(() => runningOf(group), { timeout: 10_000 }).toEqual([]);
});

it("a bad option is named", async () => {
  const run = promisify(execFile)(process.execPath, [PROGRAM, "--requests", "few"]);
  await expect(run).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("--requests must be") as string });
});
