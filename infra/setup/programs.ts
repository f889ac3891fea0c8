import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { findProgram } from "../../base/find-program.ts";
import { mayInstall } from "./consent.ts";
import { UserError } from "../../base/user-error.ts";

/** Finds one of these programs, or installs its Debian package if that is possible and allowed. */
export function findOrInstall(names: readonly string[], debianPackage: string): string | undefined {
  const found = findProgram(...names);
  if (found !== undefined) return found;
  installPackage(debianPackage);
  return findProgram(...names);
}

/** Installs a Debian package if that is possible (root and apt-get) and allowed. Returns whether it did. */
export function installPackage(debianPackage: string): boolean {
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return false;
  if (!mayInstall(`the package ${debianPackage}`)) return false;
  console.error(`Installing ${debianPackage} (apt-get) ...`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  spawnSync("apt-get", ["update", "-qq"], { env, stdio: ["ignore", 2, 2] });
  const { status } = spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", debianPackage], {
    env,
    stdio: ["ignore", "ignore", 2],
  });
  return status === 0;
}

const GO_MINOR = 26;

/** The path of a Go that is new enough for the edge. @throws UserError */
export function requireGo(): string {
  // The edge reads the kernel's counters of each connection (TCP_INFO).
  if (process.platform !== "linux")
    throw new UserError(`The TLS edge runs only on Linux, and this is ${process.platform}.`);
  const go = findProgram("go");
  const needed = `Go 1.${GO_MINOR} or newer is needed to build the TLS edge`;
  if (go === undefined)
    throw new UserError(
      `${needed}, and there is no go on the PATH: install it from your system's packages or from go.dev.`,
    );
  const version = spawnSync(go, ["env", "GOVERSION"], { encoding: "utf8" }).stdout.trim();
  const [, major, minor] = /^go(\d+)\.(\d+)/.exec(version) ?? [];
  if (Number(major) < 1 || (Number(major) === 1 && Number(minor) < GO_MINOR))
    throw new UserError(`${needed}, and ${go} is ${version}: install a newer one.`);
  return go;
}

/** Runs a program that builds to its end. @returns its standard output @throws UserError with what it printed */
export async function runBuild(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<string> {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "close");
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null];
  if (signal !== null) throw new UserError(`Interrupted while building (${signal}).`);
  if (code !== 0) throw new UserError(`${program} ${args.join(" ")} failed:\n${output}${errors}`.trimEnd());
  return output;
}
