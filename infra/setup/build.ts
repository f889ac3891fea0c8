import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { requireGo, UserError } from "./programs.ts";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export const WRANGLER = join(ROOT, "node_modules/.bin/wrangler");

/** No look-ups in the network, no metrics, no banner. */
export const WRANGLER_ENV = {
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
};

/** Bundles the worker as it would be deployed, into `dist/worker.js`. @throws UserError */
export function buildWorker(): void {
  // By this Node: the one that wrangler's own first line finds may be too old for it.
  run(process.execPath, [WRANGLER, "deploy", "--dry-run", "--outdir", "dist"], ROOT, WRANGLER_ENV);
}

export const EDGE_PROGRAM = join(ROOT, "dist", "edge");
/** A client for tests and for trying things out: loads URLs over one connection of one protocol. */
export const PROBE_PROGRAM = join(ROOT, "dist", "probe");

/** Builds the TLS edge into `dist/edge`. @throws UserError */
export function buildEdge(): void {
  buildGo(EDGE_PROGRAM, ".");
}

/** Builds the probe into `dist/probe`. @throws UserError */
export function buildProbe(): void {
  buildGo(PROBE_PROGRAM, "./cmd/probe");
}

function buildGo(program: string, what: string): void {
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  run(requireGo(), ["build", "-o", program, what], join(ROOT, "infra/edge"));
}

function run(program: string, args: readonly string[], cwd: string, env: Record<string, string> = {}): void {
  const result = spawnSync(program, args, { cwd, env: { ...process.env, ...env }, encoding: "utf8" });
  if (result.error !== undefined) throw new UserError(`${program} could not be started: ${result.error.message}`);
  if (result.status !== 0)
    throw new UserError(`${program} ${args.join(" ")} failed:\n${result.stdout}${result.stderr}`.trimEnd());
}
