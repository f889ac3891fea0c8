import { spawn } from "node:child_process";
import { ROOT, WRANGLER, WRANGLER_ENV } from "../setup/build.ts";
import { startDemoOrigin } from "./demo-origin.ts";

// `wrangler dev` with reload, for work on the worker alone: no edge, so request.cf is a placeholder. The demo site is its
// origin unless ORIGIN names another; more arguments go to wrangler.
const demo = process.env["ORIGIN"] === undefined ? await startDemoOrigin() : undefined;
const wrangler = spawn(
  process.execPath,
  [
    WRANGLER,
    "dev",
    "--var",
    `ORIGIN:${process.env["ORIGIN"] ?? demo?.url}`,
    "--var",
    "LOG_DECISIONS:on",
    ...process.argv.slice(2),
  ],
  { cwd: ROOT, stdio: "inherit", env: { ...process.env, ...WRANGLER_ENV } },
);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => wrangler.kill(signal));
wrangler.once("exit", (code) => {
  process.exitCode = code ?? 1;
  void demo?.stop();
});
