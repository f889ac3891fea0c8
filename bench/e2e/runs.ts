import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { csvParse, type DSVRowArray } from "d3-dsv";
import { afterEach, beforeAll, beforeEach, expect } from "vitest";
import { ROOT } from "../../base/root.ts";
import { namespaces } from "../lab/leftovers.ts";
import { BUILT, buildLab } from "../lab/programs.ts";

// The instrument as a person uses it, on real namespaces: needs root, and builds k6.

let folder: string;
const children: ChildProcess[] = [];

/** A folder for each test's runs; what a test starts ends with it. To be called once by a file of tests. */
export function useRuns(): void {
  // The first build of k6 takes minutes, and is no part of what is tried here. The runs do not look at it again.
  beforeAll(() => buildLab(), 1_800_000);
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "h3-bench-e2e-"));
  });
  afterEach(async () => {
    for (const child of children.splice(0))
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
    rmSync(folder, { recursive: true, force: true });
  });
}

interface Bench {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; output: string }>;
}

/** Starts `npm run bench -- ...` into the test's folder. */
export function bench(...args: readonly string[]): Bench {
  const child = spawn(process.execPath, [join(ROOT, "bench/bench.ts"), ...args, "--out", inRun()], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, [BUILT]: "1" },
  });
  children.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text: Buffer) => (output += text.toString()));
  return { child, ended: once(child, "close").then(([code]) => ({ code: code as number | null, output })) };
}

/** Waits for the end of a run that is to succeed, and leaves nothing behind: its output. */
export async function succeeded(run: Bench): Promise<string> {
  const { code, output } = await run.ended;
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(await leftBy(run)).toEqual([]);
  return output;
}

/** Ends a run as `kill -9` does, once it has so many rows. */
export async function killedAt(count: number, run: Bench): Promise<Bench> {
  await untilRows(count, run);
  run.child.kill("SIGKILL");
  await run.ended;
  return run;
}

/** A path in the folder of the run's results; the folder itself without a name. */
export function inRun(name = ""): string {
  return join(folder, "run", name);
}

/** The lines of rows.csv that are whole, without its head. */
export function lines(): string[] {
  const file = inRun("rows.csv");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(1, -1) : [];
}

/** The rows of rows.csv, or of another file of the run. */
export function rows(file = "rows.csv"): DSVRowArray {
  return csvParse(readFileSync(inRun(file), "utf8"));
}

/** The report, whose figures are all known, and whose pictures are there. */
export function report(): { text: string; pictures: string[] } {
  const text = readFileSync(inRun("report.md"), "utf8");
  expect(text).not.toMatch(/NaN|undefined|Infinity/);
  const pictures = [...text.matchAll(/!\[.*?\]\((.*?)\)/g)].map(([, file]) => file ?? "");
  for (const picture of pictures) expect(readFileSync(inRun(picture), "utf8")).toMatch(/^<svg/);
  return { text, pictures };
}

export async function untilRows(count: number, during: Bench): Promise<void> {
  let over = false;
  void during.ended.then(() => (over = true));
  while (lines().length < count) {
    if (over) throw new Error((await during.ended).output);
    // Between two looks: the rows are another process's, which tells nobody.
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}

/** Processes with this in their command line, its arguments parted by spaces; in the order of their ids, which begin again. */
export function processesWith(mark: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").includes(mark);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Processes of a run, its namespaces and its temporary folders: by the id of the process that made them. */
export async function leftBy({ child }: Bench): Promise<string[]> {
  const mark = `h3bench-${child.pid ?? 0}-`;
  return [
    ...processesWith(mark).map(String),
    ...[...(await namespaces()), ...readdirSync(tmpdir())].filter((name) => name.startsWith(mark)),
  ];
}
