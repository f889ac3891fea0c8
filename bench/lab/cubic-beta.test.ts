import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { holdCubicBeta } from "./cubic-beta.ts";

// A file stands for the kernel's: a test that fails must leave the machine as it was.
let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cubic-beta-"));
  file = join(folder, "beta");
  writeFileSync(file, "717\n");
});
afterEach(() => rmSync(folder, { recursive: true }));

const value = (): string => readFileSync(file, "utf8").trim();

it("writes what CUBIC keeps of 1,024, and puts back what was there", async () => {
  const stack = new AsyncDisposableStack();
  const beta = await holdCubicBeta(stack, file);
  for (const [givenUp, kept] of [
    [0.3, "717"],
    [0.2, "819"],
    [0.1, "922"],
    [0.02, "1004"],
    [undefined, "717"],
    [0.02, "1004"],
  ] as const) {
    beta.set(givenUp);
    expect(value()).toBe(kept);
  }
  await stack.disposeAsync();
  expect(value()).toBe("717");
});

it.each(["SIGKILL", "SIGTERM"] as const)("puts it back when the bench ends by %s", async (signal) => {
  const program = `
    const { holdCubicBeta } = await import(${JSON.stringify(join(import.meta.dirname, "cubic-beta.ts"))});
    (await holdCubicBeta(new AsyncDisposableStack(), ${JSON.stringify(file)})).set(0.02);
    console.log("set");
    setInterval(() => undefined, 1_000);
  `;
  const bench = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(bench.stdout, "data");
  expect(value()).toBe("1004");
  bench.kill(signal);
  await once(bench, "close");
  await vi.waitFor(() => expect(value()).toBe("717"), 5_000);
});

it("is one bench's at a time", async () => {
  const stack = new AsyncDisposableStack();
  await holdCubicBeta(stack, file);
  const second = new AsyncDisposableStack();
  await expect(holdCubicBeta(second, file)).rejects.toThrow("Another run is changing");
  await second.disposeAsync();
  await stack.disposeAsync();
  const third = new AsyncDisposableStack();
  await expect(holdCubicBeta(third, file)).resolves.toBeDefined();
  await third.disposeAsync();
});

it("says what is missing", async () => {
  await expect(holdCubicBeta(new AsyncDisposableStack(), join(folder, "none"))).rejects.toThrow("there is no");
});
