import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { holdCubic } from "./cubic.ts";

// Files stand for the kernel's: a test that fails must leave the machine as it was.
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cubic-"));
  // Not what Linux has of itself: what was there is put back.
  writeFileSync(join(folder, "beta"), "700\n");
  writeFileSync(join(folder, "tcp_friendliness"), "1\n");
});
afterEach(() => rmSync(folder, { recursive: true }));

const values = (): string[] =>
  ["beta", "tcp_friendliness"].map((name) => readFileSync(join(folder, name), "utf8").trim());

it("writes what CUBIC keeps of 1,024, and puts back what was there", async () => {
  const stack = new AsyncDisposableStack();
  const cubic = await holdCubic(stack, folder);
  for (const [settings, expected] of [
    [{ beta: 0.3 }, ["717", "1"]],
    [{ beta: 0.2 }, ["819", "1"]],
    [{ beta: 0.1, isFriendly: false }, ["922", "0"]],
    [{ beta: 0.02 }, ["1004", "1"]],
    [{}, ["717", "1"]],
    [{ beta: 0.02, isFriendly: false }, ["1004", "0"]],
  ] as const) {
    cubic.set(settings);
    expect(values()).toEqual(expected);
  }
  await stack.disposeAsync();
  expect(values()).toEqual(["700", "1"]);
});

it.each(["SIGKILL", "SIGTERM"] as const)("puts it back when the bench ends by %s", async (signal) => {
  const program = `
    const { holdCubic } = await import(${JSON.stringify(join(import.meta.dirname, "cubic.ts"))});
    (await holdCubic(new AsyncDisposableStack(), ${JSON.stringify(folder)})).set({ beta: 0.02, isFriendly: false });
    console.log("set");
    setInterval(() => undefined, 1_000);
  `;
  const bench = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(bench.stdout, "data");
  expect(values()).toEqual(["1004", "0"]);
  bench.kill(signal);
  await once(bench, "close");
  await vi.waitFor(() => expect(values()).toEqual(["700", "1"]), 5_000);
});

it("is one bench's at a time", async () => {
  const stack = new AsyncDisposableStack();
  await holdCubic(stack, folder);
  const second = new AsyncDisposableStack();
  await expect(holdCubic(second, folder)).rejects.toThrow("Another run is changing");
  await second.disposeAsync();
  await stack.disposeAsync();
  const third = new AsyncDisposableStack();
  await expect(holdCubic(third, folder)).resolves.toBeDefined();
  await third.disposeAsync();
});

it("says what is missing", async () => {
  rmSync(join(folder, "tcp_friendliness"));
  await expect(holdCubic(new AsyncDisposableStack(), folder)).rejects.toThrow("tcp_friendliness cannot be written");
});
