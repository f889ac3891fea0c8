import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { requireGo, runBuild } from "./programs.ts";
import { slowStartFlag } from "./quic-go.ts";

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
/** The edge with quic-go as it is, for comparison. */
export const STOCK_EDGE_PROGRAM = join(ROOT, "dist", "edge-stock");
/** What tests and measurements put around the edge: its first argument says which client, visitor or attacker it is. */
export const PEER_PROGRAM = join(ROOT, "dist", "peer");

/** Builds the TLS edge into `dist/edge`. @throws UserError */
export async function buildEdge(): Promise<void> {
  await buildGo(EDGE_PROGRAM, ".", "infra/edge", [await slowStartFlag(requireGo())]);
}

/** Builds it with quic-go as it is into `dist/edge-stock`. @throws UserError */
export async function buildStockEdge(): Promise<void> {
  await buildGo(STOCK_EDGE_PROGRAM, ".", "infra/edge");
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
export async function buildGo(
  program: string,
  what: string,
  module: string,
  flags: readonly string[] = [],
): Promise<void> {
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  await runBuild(requireGo(), ["build", ...flags, "-ldflags=-s -w", "-o", program, what], join(ROOT, module));
}
