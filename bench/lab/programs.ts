import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { buildEdge, buildWorker } from "../../infra/setup/build.ts";
import { findProgram } from "../../base/find-program.ts";
import { UserError } from "../../base/user-error.ts";
import { findOrInstall, installPackage, requireGo } from "../../infra/setup/programs.ts";

export const NETPATH_PROGRAM = join(ROOT, "dist/netpath");
export const PATHPROBE_PROGRAM = join(ROOT, "dist/pathprobe");
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
  await goBuild("bench/instrument/netpath", NETPATH_PROGRAM, ".");
  await goBuild("bench/instrument/netpath", PATHPROBE_PROGRAM, "./cmd/pathprobe");
}

/** Everything that an experiment on the whole system runs. The first build of k6 takes minutes. @throws UserError */
export async function buildLab(): Promise<void> {
  await buildNetpath();
  await buildWorker();
  await buildEdge();
  await buildK6();
}

/** k6 with our extension. @throws UserError */
export async function buildK6(): Promise<void> {
  if (!existsSync(K6_PROGRAM)) console.error("Building k6 with its extension: some minutes the first time ...");
  await goBuild("bench/instrument/k6", K6_PROGRAM, ".");
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
  await build(
    cargo,
    ["build", "--release", "--locked", "--quiet", "--target-dir", CARGO_TARGET],
    "bench/instrument/quiche",
  );
}

/**
 * Without -trimpath, so that what `npm run check` and tests have compiled need not be compiled again; without tables for a
 * debugger, which the linker takes seconds to write.
 */
async function goBuild(module: string, program: string, what: string): Promise<void> {
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  await build(requireGo(), ["build", "-ldflags=-s -w", "-o", program, what], module);
}

async function build(program: string, args: readonly string[], module: string): Promise<void> {
  const child = spawn(program, [...args], { cwd: join(ROOT, module), stdio: ["ignore", "ignore", "inherit"] });
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  if (signal !== null) throw new UserError(`Interrupted while building ${module} (${signal}).`);
  if (code !== 0) throw new UserError(`${module} could not be built: the reason stands above.`);
}
