import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
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

it.each(["", "none", "4194305 1", String(process.ppid), `${process.pid} 1`])(
  "a lock that nobody holds (%j) is taken over, whatever an earlier process wrote",
  (text) => {
    writeFileSync(join(folder, "lock"), text);
    const release = lockFolder(folder);
    expect(readFileSync(join(folder, "lock"), "utf8")).toBe(String(process.pid));
    release();
    expect(readdirSync(folder)).toEqual([]);
  },
);

/** Takes the lock when it reads a line, says whether it has it, and keeps it. */
const TAKER = `
  import { lockFolder } from ${JSON.stringify(import.meta.resolve("./lock.ts"))};
  console.log("ready");
  process.stdin.once("data", () => {
    try {
      lockFolder(process.argv[1]);
      console.log("holds");
    } catch (error) {
      console.log(error.message);
    }
  });`;

interface Taker {
  go(): void;
  nextLine(): Promise<string>;
  kill(): Promise<void>;
}

function startTaker(): Taker {
  const child = spawn(process.execPath, ["--input-type=module", "-e", TAKER, folder], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    go: () => child.stdin.write("\n"),
    nextLine: async () => String((await lines.next()).value),
    kill: async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

it("of two starts at once after a crash, one holds the folder, every time", async () => {
  const held: number[] = [];
  for (let round = 0; round < 12; round++) {
    const takers = [startTaker(), startTaker()];
    await Promise.all(takers.map(async (taker) => taker.nextLine()));
    for (const taker of takers) taker.go();
    const said = await Promise.all(takers.map(async (taker) => taker.nextLine()));
    held.push(said.filter((line) => line === "holds").length);
    // A crash: the file stays, and names a process that is gone.
    await Promise.all(takers.map(async (taker) => taker.kill()));
    expect(readdirSync(folder)).toEqual(["lock"]);
  }
  expect(held).toEqual(Array.from({ length: 12 }, () => 1));
});
