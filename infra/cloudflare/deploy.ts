import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { isYes } from "../../base/is-yes.ts";
import { ROOT } from "../../base/root.ts";
import { runMain } from "../../base/run-main.ts";
import { UserError } from "../../base/user-error.ts";
import { CONFIG, readConfig } from "./config.ts";
import { planOf, warningsIn } from "./plan.ts";

const USAGE = "npm run deploy -- [--yes] [--env NAME] [--all-files] [--no-doctor]";

// A deployment that says what it will do, stops where it would go wrong without a word, and ends with the doctor.
await runMain(async () => {
  const { yes, environment, allFiles, doctor } = options();
  // What is looked at is what is deployed, whatever other configuration wrangler would find.
  const which = ["--config", CONFIG, "--env", environment];
  const { faults, says, hosts } = planOf(readConfig(CONFIG, environment), warnings(which), { allFiles });
  if (faults.length > 0)
    throw new UserError([...faults.map((fault) => `wrangler.toml: ${fault}.`), "Nothing was deployed."].join("\n"));
  console.log(says.join("\n"));
  if (isLoggedOut())
    throw new UserError(
      "wrangler has no login here: `npx wrangler login` makes one, or CLOUDFLARE_API_TOKEN holds a token. Nothing was deployed.",
    );
  if (!yes && !(await isWanted())) throw new UserError("Nothing was deployed.");
  await run("wrangler", ["deploy", ...which], "wrangler could not deploy all of it");
  const canBeAsked = warnAboutSecrets(which);
  if (doctor) await examine(hosts, canBeAsked);
});

function options(): { yes: boolean; environment: string; allFiles: boolean; doctor: boolean } {
  try {
    const { values } = parseArgs({
      options: {
        yes: { type: "boolean", default: process.env["CI"] === "true" },
        env: { type: "string", default: process.env["CLOUDFLARE_ENV"] ?? "" },
        "all-files": { type: "boolean", default: false },
        doctor: { type: "boolean", default: true },
      },
      allowNegative: true,
    });
    return { yes: values.yes, environment: values.env, allFiles: values["all-files"], doctor: values.doctor };
  } catch (error) {
    throw new UserError(`${(error as Error).message}\n${USAGE}`);
  }
}

/** What wrangler says of the configuration before anything is sent. @throws UserError where it cannot build the worker */
function warnings(which: readonly string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), "adaptive-h3-"));
  try {
    // Without its banner, which warns of newer versions. At a lower level of its log it would not warn at all.
    const env = { ...process.env, WRANGLER_HIDE_BANNER: "true", WRANGLER_LOG: "log" };
    const args = ["deploy", "--dry-run", "--outdir", folder, ...which];
    const built = spawnSync("wrangler", args, { cwd: ROOT, env, encoding: "utf8" });
    if (built.error !== undefined) throw new UserError("wrangler was not found. Start this with `npm run deploy`.");
    if (built.status !== 0) throw new UserError(`wrangler cannot build the worker:\n${built.stdout}${built.stderr}`);
    return warningsIn(built.stdout + built.stderr).filter((warning) => !warning.startsWith("Proxy environment"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Whether wrangler knows that it has no login. Where it cannot say (no network), its deployment says why. */
function isLoggedOut(): boolean {
  const { stdout } = spawnSync("wrangler", ["whoami", "--json"], { cwd: ROOT, encoding: "utf8" });
  return /"loggedIn":\s*false/.test(stdout);
}

async function isWanted(): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new UserError(
      "There is no terminal to ask on. Use --yes to deploy without a question. Nothing was deployed.",
    );
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return isYes(await terminal.question("Deploy? Type yes: "));
  } finally {
    terminal.close();
  }
}

async function run(program: string, args: readonly string[], about: string): Promise<void> {
  const [code] = (await once(spawn(program, args, { cwd: ROOT, stdio: "inherit" }), "exit")) as [number | null];
  if (code !== 0) throw new UserError(`${about} (exit code ${code ?? "none"}).`);
}

/** Without tokens the API is off. Only their names can be asked for. @returns whether the API can be called, as far as is known */
function warnAboutSecrets(which: readonly string[]): boolean {
  const args = ["secret", "list", "--format", "json", ...which];
  const listed = spawnSync("wrangler", args, { cwd: ROOT, encoding: "utf8" });
  if (listed.status !== 0) {
    console.log("wrangler does not list the worker's secrets, so it is not known whether it has them.");
    return true;
  }
  if (listed.stdout.includes('"POLICY_TOKENS"')) return true;
  console.log(
    "Nobody can call its API yet. Make a token with `npm run policy -- token`, and give the worker its entry:\n" +
      "  npx wrangler secret put POLICY_TOKENS",
  );
  return false;
}

/** Ends as the doctor does. */
async function examine(hosts: readonly string[], canBeAsked: boolean): Promise<void> {
  if (hosts.length === 0)
    return console.log("No host without a star has a route to it, so the doctor has nothing to look at.");
  const file = process.env["H3_TOKEN_FILE"];
  // A path is one of the folder that npm was started in.
  const env = file === undefined ? {} : { H3_TOKEN_FILE: resolve(process.env["INIT_CWD"] ?? ROOT, file) };
  const hasToken = file !== undefined || process.env["H3_TOKEN"] !== undefined;
  for (const host of hosts) {
    const url = `https://${host}/`;
    if (!hasToken || !canBeAsked) {
      console.log(
        `Now find out what the zone does with its answers:\n  H3_TOKEN_FILE=FILE npm run policy -- doctor ${url}`,
      );
      continue;
    }
    console.log(`\nThe doctor looks at ${url}\n`);
    const args = [join(ROOT, "policy-api/cli/main.ts"), "doctor", url];
    const [code] = (await once(
      spawn(process.execPath, args, {
        stdio: "inherit",
        env: { ...process.env, ...env },
      }),
      "exit",
    )) as [number | null];
    if (code !== 0)
      console.log(
        `The worker is deployed. The exit code ${code ?? "that is missing"} is the doctor's (docs/deploy-cloudflare.md).`,
      );
    // What is known to be wrong outweighs what cannot be told.
    if (code !== 0 && process.exitCode !== 1) process.exitCode = code ?? 1;
  }
}
