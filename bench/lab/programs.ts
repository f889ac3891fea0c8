import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { buildEdge, buildGo, buildWorker } from "../../infra/setup/build.ts";
import { findProgram } from "../../base/find-program.ts";
import { UserError } from "../../base/user-error.ts";
import { findOrInstall, installPackage, runBuild } from "../../infra/setup/programs.ts";

export const NETPATH_PROGRAM = join(ROOT, "dist/netpath");
export const PATHPROBE_PROGRAM = join(ROOT, "dist/pathprobe");
export const CROSS_TRAFFIC_PROGRAM = join(ROOT, "dist/crosstraffic");
export const K6_PROGRAM = join(ROOT, "dist/k6");
const CARGO_TARGET = join(ROOT, "dist/cargo");
export const QUICHE_PROGRAM = join(CARGO_TARGET, "release/quiche-origin");

/** What emulates a network on this machine, and measures it. @throws UserError */
export async function buildNetpath(): Promise<void> {
  if (process.getuid?.() !== 0)
    throw new UserError(
      "An emulated network takes network namespaces and devices, which only root may make: use sudo.",
    );
  if (findOrInstall(["ip"], "iproute2") === undefined)
    throw new UserError("The emulated network needs the program ip: install your system's package iproute2.");
  await buildGo(NETPATH_PROGRAM, ".", "bench/instrument/netpath");
  await buildGo(PATHPROBE_PROGRAM, "./cmd/pathprobe", "bench/instrument/netpath");
  await buildGo(CROSS_TRAFFIC_PROGRAM, "./cmd/crosstraffic", "bench/instrument/netpath");
}

/** Set in the environment of a run whose starter has built everything: tests start many, and building takes seconds. */
export const BUILT = "BENCH_IS_BUILT";

/** Everything that an experiment on the whole system runs. The first build of k6 takes minutes. @throws UserError */
export async function buildLab(): Promise<void> {
  if (process.env[BUILT] !== undefined) return;
  await buildNetpath();
  await buildWorker();
  await buildEdge();
  await buildK6();
}

/** k6 with our extension. @throws UserError */
export async function buildK6(): Promise<void> {
  if (!existsSync(K6_PROGRAM)) console.error("Building k6 with its extension: some minutes the first time ...");
  await buildGo(K6_PROGRAM, ".", "bench/instrument/k6");
}

/**
 * A server on Cloudflare's quiche. The first build takes some six minutes, as BoringSSL is built with it.
 *
 * @throws UserError where Rust or what BoringSSL takes is missing
 */
export async function buildQuiche(): Promise<void> {
  const cargo = findProgram("cargo");
  if (cargo === undefined)
    throw new UserError("A server on quiche needs Rust 1.88 or newer, and no cargo is on the PATH: see rustup.rs.");
  if (findOrInstall(["cmake"], "cmake") === undefined || findOrInstall(["clang"], "clang") === undefined)
    throw new UserError("A server on quiche needs cmake, clang and libclang: install your system's packages of them.");
  if (!existsSync(QUICHE_PROGRAM)) {
    // Its bindings are made by libclang, which no program tells of.
    installPackage("libclang-dev");
    console.error("Building a server on quiche: six minutes the first time ...");
  }
  const args = ["build", "--release", "--locked", "--quiet", "--target-dir", CARGO_TARGET];
  await runBuild(cargo, args, join(ROOT, "bench/instrument/quiche"));
}
