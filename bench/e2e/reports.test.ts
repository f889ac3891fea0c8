import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../base/root.ts";
import { listExperiments } from "../harness/run.ts";

const RESULTS = join(ROOT, "bench/results");
const experimentOf = (folder: string): string =>
  (JSON.parse(readFileSync(join(RESULTS, folder, "run.json"), "utf8")) as { experiment: string }).experiment;
/** By a client, and by a policy, that are gone. */
const GONE = new Set(["offers-k6", "lean-contest", "real-networks-k6", "real-networks-k6-shared"]);
const recorded = readdirSync(RESULTS).filter(
  (folder) =>
    !GONE.has(folder) && existsSync(join(RESULTS, folder, "run.json")) && listExperiments().has(experimentOf(folder)),
);

it.each(recorded)("the recorded run %s gives the same summary, report and pictures again", (folder) => {
  const report = readFileSync(join(RESULTS, folder, "report.md"), "utf8");
  const [, args] = new RegExp(`^\`npm run bench -- (.+) --out bench/results/${folder}\``, "m").exec(report) ?? [];
  const copy = mkdtempSync(join(tmpdir(), "h3-report-"));
  try {
    cpSync(join(RESULTS, folder), copy, { recursive: true });
    execFileSync(process.execPath, ["bench/bench.ts", ...(args ?? "").split(" "), "--out", copy, "--report"], {
      cwd: ROOT,
    });
    const textIn = (path: string, file: string) => readFileSync(join(path, file), "utf8");
    for (const file of readdirSync(copy))
      expect(textIn(copy, file).replaceAll(copy, `bench/results/${folder}`), file).toBe(
        textIn(join(RESULTS, folder), file),
      );
  } finally {
    rmSync(copy, { recursive: true });
  }
});
