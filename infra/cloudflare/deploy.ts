import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { ROOT } from "../../base/root.ts";
import { runMain } from "../../base/run-main.ts";
import { UserError } from "../../base/user-error.ts";
import { readConfig } from "./config.ts";
import { planOf, warningsIn } from "./plan.ts";

const USAGE = "npm run deploy -- [--yes] [--all-files] [--no-doctor]";

// A deployment that says what it will do, stops where it would go wrong without a word, and ends with the doctor.
await runMain(async () => {
  const { yes, allFiles, doctor } = options();
  const { faults, says, hosts } = planOf(readConfig(), warnings(), { allFiles });
  if (faults.length > 0)
    throw new UserError([...faults.map((fault) => `wrangler.toml: ${fault}.`), "Nothing was deployed."].join("\n"));
  console.log(says.join("\n"));
  if (!yes && !(await isWanted())) throw new UserError("Nothing was deployed.");
  await run("wrangler", ["deploy"], "wrangler could not deploy");
  tellOfSecrets();
  if (doctor) await examine(hosts);
});

function options(): { yes: boolean; allFiles: boolean; doctor: boolean } {
  try {
    const { values } = parseArgs({
      options: {
        yes: { type: "boolean", default: process.env["CI"] === "true" },
        "all-files": { type: "boolean", default: false },
        doctor: { type: "boolean", default: true },
      },
      allowNegative: true,
    });
    return { yes: values.yes, allFiles: values["all-files"], doctor: values.doctor };
  } catch (error) {
    throw new UserError(`${(error as Error).message}\n${USAGE}`);
  }
}

/** What wrangler says of the configuration before anything is sent. @throws UserError where it cannot build the worker */
function warnings(): string[] {
  const folder = mkdtempSync(join(tmpdir(), "adaptive-h3-"));
  try {
    const built = spawnSync("wrangler", ["deploy", "--dry-run", "--outdir", folder], { cwd: ROOT, encoding: "utf8" });
    if (built.error !== undefined) throw new UserError("wrangler was not found. Start this with `npm run deploy`.");
    if (built.status !== 0) throw new UserError(`wrangler cannot build the worker:\n${built.stdout}${built.stderr}`);
    return warningsIn(built.stdout + built.stderr);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function isWanted(): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new UserError("Deploy? This is no terminal to ask on: with --yes it is done without asking.");
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await terminal.question("Deploy? Type yes: ")).trim() === "yes";
  } finally {
    terminal.close();
  }
}

async function run(program: string, args: readonly string[], about: string): Promise<void> {
  const [code] = (await once(spawn(program, args, { cwd: ROOT, stdio: "inherit" }), "exit")) as [number | null];
  if (code !== 0) throw new UserError(`${about} (exit code ${code ?? "none"}).`);
}

/** Without tokens the API is off. Only their names can be asked for. */
function tellOfSecrets(): void {
  const listed = spawnSync("wrangler", ["secret", "list", "--format", "json"], { cwd: ROOT, encoding: "utf8" });
  if (listed.status !== 0) return console.log("Whether it has its secrets is not known: wrangler does not list them.");
  if (!listed.stdout.includes('"POLICY_TOKENS"'))
    console.log(
      "Nobody can call its API yet. Make a token with `npm run policy -- token`, and give the worker its entry:\n" +
        "  npx wrangler secret put POLICY_TOKENS",
    );
}

/** Ends as the doctor does. */
async function examine(hosts: readonly string[]): Promise<void> {
  if (hosts.length === 0)
    return console.log("No host has a route to it, so there is nothing for the doctor to look at.");
  for (const host of hosts) {
    const url = `https://${host}/`;
    if ((process.env["H3_TOKEN_FILE"] ?? process.env["H3_TOKEN"]) === undefined) {
      console.log(
        `Now find out what the zone does with its answers:\n  H3_TOKEN_FILE=FILE npm run policy -- doctor ${url}`,
      );
      continue;
    }
    console.log(`\nThe doctor looks at ${url}\n`);
    const args = [join(ROOT, "policy-api/cli/main.ts"), "doctor", url];
    const [code] = (await once(spawn(process.execPath, args, { stdio: "inherit" }), "exit")) as [number | null];
    if (code !== 0) process.exitCode = code ?? 1;
  }
}
