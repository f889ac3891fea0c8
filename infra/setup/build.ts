import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { requireGo, UserError } from "./programs.ts";

export const ROOT = new URL("../..", import.meta.url).pathname;

/** No look-ups in the network, no metrics, no banner. */
export const WRANGLER_ENV = {
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
};

/** Bundles the worker as it would be deployed, into `dist/worker.js`. @throws UserError */
export function buildWorker(): void {
  run(join(ROOT, "node_modules/.bin/wrangler"), ["deploy", "--dry-run", "--outdir", "dist"], ROOT, WRANGLER_ENV);
}

/** Builds the TLS edge; returns the program's path. @throws UserError */
export function buildEdge(): string {
  const program = join(ROOT, "dist", "edge");
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  run(requireGo(), ["build", "-o", program, "."], join(ROOT, "infra/edge"));
  return program;
}

function run(program: string, args: readonly string[], cwd: string, env: Record<string, string> = {}): void {
  const result = spawnSync(program, args, { cwd, env: { ...process.env, ...env }, encoding: "utf8" });
  if (result.error !== undefined) throw new UserError(`${program} could not be started: ${result.error.message}`);
  if (result.status !== 0)
    throw new UserError(`${program} ${args.join(" ")} failed:\n${result.stdout}${result.stderr}`.trimEnd());
}
