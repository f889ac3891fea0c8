import { spawn } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { readSettings } from "../../worker/settings.ts";
import { tokenEntry } from "../../policy-api/api/tokens.ts";
import { ROOT } from "../../base/root.ts";
import { WRANGLER, WRANGLER_ENV } from "../setup/build.ts";
import { UserError } from "../../base/user-error.ts";
import { runMain } from "../../base/run-main.ts";
import { startDemoOrigin } from "./demo-origin.ts";

const ORIGIN = process.env["ORIGIN"] || undefined;
/** A fixed token will do: only this machine can reach this worker. */
const TOKEN = "dev";
/** Wrangler's arguments. Of them, this needs the port alone. */
const ARGUMENTS = process.argv.slice(2);
const { port = "8787" } = parseArgs({ args: ARGUMENTS, options: { port: { type: "string" } }, strict: false }).values;

// `wrangler dev` with reload, for work on the worker alone. There is no edge, so request.cf is a placeholder. The origin is
// the demo site unless you set ORIGIN. Further arguments go to wrangler.
await runMain(async () => {
  const { faults } = readSettings(ORIGIN === undefined ? {} : { ORIGIN });
  if (faults.length > 0)
    throw new UserError(faults.map(({ name, message }) => `The variable ${name} ${message}.`).join("\n"));
  const demo = ORIGIN === undefined ? await startDemoOrigin() : undefined;
  const variables = [
    `ORIGIN:${ORIGIN ?? demo?.url}`,
    "LOG_DECISIONS:on",
    `POLICY_TOKENS:${await tokenEntry("dev", "autopilot", TOKEN)}`,
  ];
  // A site of your own never meets what was activated for the demo site.
  const state = ORIGIN === undefined ? ".wrangler/demo" : ".wrangler/state";
  const keeping = ARGUMENTS.includes("--persist-to") ? [] : ["--persist-to", state];
  console.log(`A new store (${state}) is in observe. To see an offer, run this in another terminal. (Nothing
measures an RTT here, so a header says one.)
  export H3_URL=http://localhost:${port} H3_TOKEN=${TOKEN}
  npm run policy -- push policy-api/policies/published.json && npm run policy -- activate 1
  curl -sS -D - -o /dev/null -H 'Accept: text/html' -H 'MF-CF-Blob: {"clientTcpRtt":100}' http://localhost:${port}/
`);
  const wrangler = spawn(
    process.execPath,
    // The worker says nothing where a visitor comes without TLS: its URLs begin with https:, though this is not.
    [
      WRANGLER,
      "dev",
      "--upstream-protocol",
      "https",
      ...keeping,
      ...variables.flatMap((variable) => ["--var", variable]),
      ...ARGUMENTS,
    ],
    { cwd: ROOT, stdio: "inherit", env: { ...process.env, ...WRANGLER_ENV } },
  );
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => wrangler.kill(signal));
  const [code] = (await once(wrangler, "exit")) as [number | null];
  await demo?.stop();
  process.exitCode = code ?? 1;
});
