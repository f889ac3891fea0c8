import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { lockFolder } from "./lock.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "h3-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("one process holds the folder, and another can take it after the release", () => {
  const release = lockFolder(folder);
  expect(() => lockFolder(folder)).toThrow(`is in use by process ${process.pid}: stop it, or set STATE_DIR`);
  release();
  lockFolder(folder)();
});

it.each(["", "none", "0", "4194305", "4194305 1"])("a lock of no running process (%j) is taken over", (text) => {
  writeFileSync(join(folder, "lock"), text);
  const release = lockFolder(folder);
  expect(readFileSync(join(folder, "lock"), "utf8")).toMatch(new RegExp(`^${process.pid} \\d+$`));
  release();
});

it.each([String(process.ppid), `${process.ppid} 1`, `${process.pid} 1`])(
  "a lock whose process number belongs to another process by now (%j) is taken over",
  (text) => {
    writeFileSync(join(folder, "lock"), text);
    const release = lockFolder(folder);
    expect(readFileSync(join(folder, "lock"), "utf8")).not.toBe(text);
    release();
  },
);
