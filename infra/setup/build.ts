import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { ROOT } from "../../base/root.ts";
import { UserError } from "../../base/user-error.ts";
import { requireGo } from "./programs.ts";

export const WRANGLER = join(ROOT, "node_modules/.bin/wrangler");

/** Wrangler fetches nothing from the network, sends no metrics and prints no banner. */
export const WRANGLER_ENV = {
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
};

/**
 * Bundles the worker as it would be deployed, into `dist/worker.js`. The file is always whole: a workerd that starts meanwhile
 * reads the bundle of before or the new one.
 *
 * @throws UserError
 */
export async function buildWorker(): Promise<void> {
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, "dist/worker-"));
  try {
    // Run with this Node: the Node that wrangler's own script finds on the PATH may be too old for wrangler.
    await runBuild(process.execPath, [WRANGLER, "deploy", "--dry-run", "--outdir", folder], ROOT, WRANGLER_ENV);
    renameSync(join(folder, "worker.js"), join(ROOT, "dist/worker.js"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const EDGE_PROGRAM = join(ROOT, "dist", "edge");
/** What tests and measurements put around the edge: its first argument says which client, visitor or attacker it is. */
export const PEER_PROGRAM = join(ROOT, "dist", "peer");

/** Builds the TLS edge into `dist/edge`. @throws UserError */
export async function buildEdge(): Promise<void> {
  await buildGo(EDGE_PROGRAM, ".");
}

/** Builds the clients and the visitors into `dist/peer`. @throws UserError */
export async function buildPeer(): Promise<void> {
  await buildGo(PEER_PROGRAM, ".", "infra/faults/peer");
}

/** The path of h2spec, which tests a server of HTTP/2 for conformance. */
export const H2SPEC_PROGRAM = join(ROOT, "dist", "h2spec");

/** Builds h2spec into `dist/h2spec`. The first time, this needs Go's module proxy. @throws UserError */
export async function buildH2spec(): Promise<void> {
  await buildGo(H2SPEC_PROGRAM, "github.com/summerwind/h2spec/cmd/h2spec", H2SPEC_MODULE);
}

/** The path of the plain HTTP/2 server with which the test with h2spec compares the edge. */
export const PLAIN_PROGRAM = join(ROOT, "dist", "plain");

/** Builds the plain server into `dist/plain`. @throws UserError */
export async function buildPlain(): Promise<void> {
  await buildGo(PLAIN_PROGRAM, "./plain", H2SPEC_MODULE);
}

/** A module of its own, so that h2spec's dependencies are not the edge's. */
const H2SPEC_MODULE = "infra/e2e/h2spec";

/**
 * Without -trimpath, so that what `npm run check` and tests have compiled need not be compiled again; without tables for a
 * debugger, which the linker takes seconds to write.
 *
 * @throws UserError
 */
export async function buildGo(program: string, what: string, module = "infra/edge"): Promise<void> {
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  await runBuild(requireGo(), ["build", "-ldflags=-s -w", "-o", program, what], join(ROOT, module));
}

/** Runs a program that builds to its end. @throws UserError with what it printed */
export async function runBuild(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<void> {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "close");
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null];
  if (signal !== null) throw new UserError(`Interrupted while building (${signal}).`);
  if (code !== 0) throw new UserError(`${program} ${args.join(" ")} failed:\n${output}${errors}`.trimEnd());
}
