import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { ROOT } from "../../base/root.ts";
import { buildH2spec, H2SPEC_PROGRAM } from "./build.ts";
import { chromiumProgram, installChromium } from "./chromium.ts";
import { installFirefox } from "./firefox.ts";
import { GO_MODULES, type GoModule } from "./go-modules.ts";
import { UserError } from "../../base/user-error.ts";
import { CONSENT_VARIABLE } from "./consent.ts";
import { findOrInstall, requireGo } from "./programs.ts";
import { findProxies } from "./proxies.ts";
import { slowStartFlag } from "./quic-go.ts";
import { runMain } from "../../base/run-main.ts";
import { installSchemathesis } from "./schemathesis.ts";

// Runs every test that needs no root. At the end, what failed is said once more, so that nobody has to look for it; the
// last line has the counts over all of them.
interface Count {
  passed: number;
  /** What each failed test was, and what it said. */
  failures: string[];
}

const MISSING_IS_FAILURE = process.env["CI"] === "true";

/** What some tests need beside Go and Node. In CI, where nobody reads that something did not run, its lack is a failure. */
interface Need {
  readonly what: string;
  /** Why these tests do not run, if they do not. */
  readonly lack: string;
  /** Finds or installs it. */
  readonly find: () => unknown;
  /** Files of infra/e2e. */
  readonly tests: readonly string[];
}

const NEEDS: readonly Need[] = [
  {
    what: "the tests in Chromium",
    lack: "no Chromium is installed, and it could not be installed",
    find: installChromium,
    tests: ["assets", "browser", "dashboard", "demo", "differential", "doctor", "reporter"],
  },
  {
    what: "the tests in Firefox",
    lack: "Firefox or certutil is not installed, and could not be installed",
    find: installFirefox,
    tests: ["browser", "doctor"],
  },
  {
    what: "Go's race detector",
    lack: "no C compiler is installed, and it could not be installed",
    find: findCompiler,
    tests: [],
  },
  {
    what: "the examples of docs/decisions.md, and compiled policies",
    lack: "HAProxy, nginx or its njs is not installed, and could not be installed",
    find: findProxies,
    tests: ["decision-examples", "compiled"],
  },
  {
    what: "the API against its document, and compiled rules in Cloudflare's parser",
    lack: "schemathesis is not installed, and could not be installed (it needs Python and PyPI)",
    find: installSchemathesis,
    tests: ["api-schemathesis", "compiled-cloudflare"],
  },
  {
    what: "HTTP/2 conformance",
    lack: "h2spec could not be built (it needs Go's module proxy)",
    find: async () => {
      try {
        await buildH2spec();
        return H2SPEC_PROGRAM;
      } catch (error) {
        console.error(String(error));
        return undefined;
      }
    },
    tests: ["h2spec"],
  },
  {
    what: "the systemd units",
    lack: "systemd-analyze is not installed, and could not be installed",
    find: () => findOrInstall(["systemd-analyze"], "systemd"),
    tests: ["units"],
  },
  {
    what: "metrics as Prometheus reads them",
    lack: "promtool is not installed, and could not be installed (it is in Debian's prometheus)",
    find: () => findOrInstall(["promtool"], "prometheus"),
    tests: ["metrics"],
  },
];

function findCompiler(): string | undefined {
  return findOrInstall(["gcc", "cc", "clang"], "gcc");
}

async function main(): Promise<Count> {
  if (process.argv.includes("--install")) process.env[CONSENT_VARIABLE] = "yes";
  const go = requireGo();
  const counts: Count[] = [];
  const without: string[] = [];
  for (const { what, lack, find, tests } of NEEDS) {
    if ((await find()) !== undefined) continue;
    const notRun = `NOT RUN: ${what}: ${lack}.`;
    console.error(`\n${notRun}\n`);
    counts.push({ passed: 0, failures: MISSING_IS_FAILURE ? [notRun] : [] });
    without.push(...tests.map((test) => `infra/e2e/${test}.test.ts`));
  }
  const browser = chromiumProgram();
  const race = findCompiler() !== undefined;

  // Tests write only to this folder. It is removed after the tests, also after an interruption.
  const folder = mkdtempSync(join(tmpdir(), "h3-run-"));
  try {
    heading("Decision, worker, objects, API; Go's tests at the same time");
    const testGo = async (): Promise<GoResult[]> => {
      const results: GoResult[] = [];
      for (const module of GO_MODULES) if (!interrupted) results.push(await goTests(go, module, race, folder));
      return results;
    };
    const [units, ofGo] = await Promise.all([vitest(["core", "workerd", "node"], [], browser, folder), testGo()]);
    counts.push(units);
    for (const { module, count, text } of ofGo) {
      heading(`Go: ${module.folder}`);
      process.stdout.write(text);
      counts.push(count);
    }
    if (!interrupted) {
      heading("The whole system");
      counts.push(await vitest(["e2e", "e2e-two", "e2e-alone"], without, browser, folder));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (interrupted) throw new UserError("Interrupted.");
  return {
    passed: counts.reduce((sum, count) => sum + count.passed, 0),
    failures: counts.flatMap((count) => count.failures),
  };
}

let interrupted = false;

/** Starts a suite and passes interruptions on to it. `ended` resolves when it has ended. */
function start(
  command: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; stdout: "pipe" | "inherit" },
): { child: ChildProcess; ended: Promise<number | null> } {
  const { cwd, env, stdout } = options;
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", stdout, "inherit"] });
  const stop = (): void => {
    interrupted = true;
    child.kill("SIGINT");
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  const ended = once(child, "close").then(([code]) => {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    return code as number | null;
  });
  return { child, ended };
}

interface GoResult {
  readonly module: GoModule;
  readonly count: Count;
  /** What is to be said of it, as other tests print while it runs. */
  readonly text: string;
}

async function goTests(go: string, module: GoModule, race: boolean, folder: string): Promise<GoResult> {
  const count: Count = { passed: 0, failures: [] };
  let said = "";
  const output = new Map<string, string>();
  const flags = [...(race ? ["-race"] : []), ...(module.folder === "infra/edge" ? [await slowStartFlag(go)] : [])];
  const { child, ended } = start(go, ["test", "-json", ...flags, ...module.packages], {
    cwd: join(ROOT, module.folder),
    env: { TMPDIR: folder, ...(race ? { CGO_ENABLED: "1" } : {}) },
    stdout: "pipe",
  });
  for await (const line of createInterface({ input: child.stdout as Readable })) {
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
    if (event.Action === "pass" && event.Test !== undefined) {
      count.passed++;
      output.delete(name);
    }
    if (event.Action === "fail" || event.Action === "build-fail") {
      // If a package dies, its tests die too. Only their output says why.
      const why = [...output]
        .flatMap(([of, text]) => (of === name || of.startsWith(`${name} `) ? [text] : []))
        .join("");
      // A package fails when its tests fail. It counts by itself only if it did not even build.
      if (event.Test !== undefined || event.Action === "build-fail") count.failures.push(`${name}\n${why}`);
      said += why;
    }
    if (event.Action === "pass" && event.Test === undefined) said += `ok    ${name}\n`;
  }
  if ((await ended) !== 0 && count.failures.length === 0) count.failures.push(`${module.folder}: go test failed`);
  return { module, count, text: said };
}

async function vitest(
  projects: readonly string[],
  without: readonly string[],
  browser: string | undefined,
  folder: string,
): Promise<Count> {
  const results = join(folder, `${projects.join("-")}.json`);
  const { ended } = start(
    process.execPath,
    [
      join(ROOT, "node_modules/.bin/vitest"),
      "run",
      ...projects.map((project) => `--project=${project}`),
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${results}`,
      ...without.flatMap((file) => ["--exclude", file]),
    ],
    { cwd: ROOT, env: { TMPDIR: folder, ...(browser === undefined ? {} : { CHROMIUM: browser }) }, stdout: "inherit" },
  );
  const code = await ended;
  const outside = `${projects.join(", ")}: a file that cannot be loaded, or an error outside the tests; see above`;
  if (!existsSync(results)) return { passed: 0, failures: [outside] };
  const { numPassedTests, testResults } = JSON.parse(readFileSync(results, "utf8")) as VitestResults;
  const failures = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === "failed")
      .map(({ fullName, failureMessages }) => [relative(ROOT, name), fullName, ...failureMessages].join("\n")),
  );
  return { passed: numPassedTests, failures: code !== 0 && failures.length === 0 ? [outside] : failures };
}

/** What is used of vitest's JSON reporter. */
interface VitestResults {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    /** The file. */
    readonly name: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

function heading(text: string): void {
  console.log(`\n== ${text}`);
}

await runMain(async () => {
  const { passed, failures } = await main();
  for (const failure of failures) console.log(`\nFAILED ${failure}`);
  console.log(`\n${passed} passed, ${failures.length} failed`);
  process.exitCode = failures.length === 0 && passed > 0 ? 0 : 1;
});
