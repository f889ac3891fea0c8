import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../../base/find-program.ts";
import { UserError } from "../../base/user-error.ts";
import { findOrInstall } from "../../infra/setup/programs.ts";
import { freePort, untilListens } from "../../infra/workerd/listening.ts";
import { type RunningProgram, startProgram } from "../../infra/workerd/processes.ts";
import { CORES } from "./cores.ts";

/** Debian's nginx; undefined where it is not installed and cannot be. */
export function findNginx(): string | undefined {
  found ??= { program: findOrInstall(["nginx"], "nginx") };
  return found.program;
}

/** An installation is tried once. */
let found: { readonly program: string | undefined } | undefined;

/** Such as 1.22.1. */
export function nginxVersion(program: string): string {
  return /nginx\/(\S+)/.exec(spawnSync(program, ["-v"], { encoding: "utf8" }).stderr)?.[1] ?? "unknown";
}

/**
 * Starts nginx on a free port of the loopback, before the origin; resolves when it takes connections.
 *
 * @param origin HOST:PORT
 * @param certificates the folder of the development certificate
 * @throws UserError
 */
export async function startNginx(
  folder: string,
  origin: string,
  certificates: string,
): Promise<{ program: RunningProgram; addresses: readonly string[] }> {
  const nginx = findNginx();
  if (nginx === undefined) throw new UserError("There is no nginx.");
  const address = `127.0.0.1:${await freePort()}`;
  mkdirSync(folder, { recursive: true });
  const config = join(folder, "nginx.conf");
  writeFileSync(config, nginxConfig({ address, origin, certificates }));
  const said: string[] = [];
  // The kernel would kill only the master with this process, and its workers would go on: TERM lets it end them.
  const setpriv = findProgram("setpriv");
  const before = setpriv === undefined ? [] : ["--pdeathsig", "TERM", "--", nginx];
  // As many workers as the Go runtime has threads, which must be able to write into the folder.
  const directives = `worker_processes ${CORES};${process.getuid?.() === 0 ? " user root;" : ""}`;
  const program = startProgram(setpriv ?? nginx, {
    args: [...before, "-e", "stderr", "-p", folder, "-c", config, "-g", directives],
    onLine: (line) => said.push(line),
    onErrorLine: (line) => said.push(line),
  });
  const ended = program.ended.then((why) => {
    throw new UserError([`nginx did not start (${why}).`, ...said].join("\n"));
  });
  await Promise.race([untilListens("nginx", address), ended]);
  return { program, addresses: [address] };
}

/** nginx.conf, with values in place of `{{names}}`. */
export function nginxConfig(values: { address: string; origin: string; certificates: string }): string {
  const text = readFileSync(join(import.meta.dirname, "nginx.conf"), "utf8");
  return Object.entries(values).reduce((config, [name, value]) => config.replaceAll(`{{${name}}}`, value), text);
}
