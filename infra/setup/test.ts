import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ROOT } from "./build.ts";
import { installChromium } from "./chromium.ts";
import { findOrInstall, requireGo } from "./programs.ts";
import { runMain } from "./run-main.ts";

// Every test that needs no root, and at the end one line with the count over all of them.
interface Count {
  passed: number;
  failed: number;
}

const MISSING_IS_FAILURE = process.env["CI"] === "true";

async function main(): Promise<Count> {
  const go = requireGo();
  const counts: Count[] = [];
  const browser = installChromium();
  if (browser === undefined)
    counts.push(notRun("the tests in a real browser", "no Chromium is installed here, and none could be"));
  const compiler = findOrInstall(["gcc", "cc", "clang"], "gcc");
  if (compiler === undefined)
    counts.push(notRun("Go's race detector", "no C compiler is installed here, and none could be"));

  heading("Go");
  counts.push(await goTests(go, compiler !== undefined));
  heading("Decision, worker, objects, API, whole system");
  counts.push(vitest(browser));
  return {
    passed: counts.reduce((sum, count) => sum + count.passed, 0),
    failed: counts.reduce((sum, count) => sum + count.failed, 0),
  };
}

/** Says in so many words that something did not run; where nobody reads that, it is a failure. */
function notRun(what: string, why: string): Count {
  console.error(`\nNOT RUN: ${what}: ${why}.\n`);
  return { passed: 0, failed: MISSING_IS_FAILURE ? 1 : 0 };
}

async function goTests(go: string, race: boolean): Promise<Count> {
  const count: Count = { passed: 0, failed: 0 };
  const output = new Map<string, string>();
  const child = spawn(go, ["test", "-json", ...(race ? ["-race"] : []), "./..."], {
    cwd: join(ROOT, "infra/edge"),
    env: { ...process.env, ...(race ? { CGO_ENABLED: "1" } : {}) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const forward = (signal: NodeJS.Signals): boolean => child.kill(signal);
  process.on("SIGINT", forward).on("SIGTERM", forward);
  for await (const line of createInterface({ input: child.stdout })) {
    const event = JSON.parse(line) as {
      Action: string;
      Package?: string;
      ImportPath?: string;
      Test?: string;
      Output?: string;
    };
    const name = `${event.Package ?? event.ImportPath ?? ""} ${event.Test ?? ""}`.trim();
    if (event.Action === "output" || event.Action === "build-output")
      output.set(name, (output.get(name) ?? "") + (event.Output ?? ""));
    if (event.Action === "pass" && event.Test !== undefined) count.passed++;
    if (event.Action === "fail" || event.Action === "build-fail") {
      // A package fails with its tests; by itself it counts only when it did not even run.
      if (event.Test !== undefined || event.Action === "build-fail") count.failed++;
      process.stdout.write(output.get(name) ?? "");
    }
    if (event.Action === "pass" && event.Test === undefined) console.log(`ok    ${name}`);
  }
  const code = await new Promise<number | null>((resolve) => {
    if (child.exitCode === null && child.signalCode === null) child.once("exit", resolve);
    else resolve(child.exitCode);
  });
  if (code !== 0 && count.failed === 0) count.failed++;
  return count;
}

function vitest(browser: string | undefined): Count {
  const folder = mkdtempSync(join(tmpdir(), "h3-results-"));
  try {
    const results = join(folder, "results.json");
    const run = spawnSync(
      process.execPath,
      [
        join(ROOT, "node_modules/.bin/vitest"),
        "run",
        "--reporter=default",
        "--reporter=json",
        `--outputFile.json=${results}`,
        ...(browser === undefined ? ["--exclude", "infra/e2e/browser.test.ts"] : []),
      ],
      { cwd: ROOT, stdio: "inherit", env: { ...process.env, ...(browser === undefined ? {} : { CHROMIUM: browser }) } },
    );
    const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(results, "utf8")) as Record<string, number>;
    const failed = numFailedTests ?? 0;
    // A file that cannot be loaded, or an error outside every test, fails no test but the run.
    return { passed: numPassedTests ?? 0, failed: run.status !== 0 && failed === 0 ? 1 : failed };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function heading(text: string): void {
  console.log(`\n== ${text}`);
}

await runMain(async () => {
  const { passed, failed } = await main();
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
});
