import { spawnSync } from "node:child_process";
import { findProgram } from "../../base/find-program.ts";
import { UserError } from "../../base/user-error.ts";
import { findOrInstall } from "../../infra/setup/programs.ts";
import { freePort, untilListens } from "../../infra/workerd/listening.ts";
import { type RunningProgram, startProgram } from "../../infra/workerd/processes.ts";
import { copyConfig } from "./config-file.ts";
import { CORES } from "./cpu.ts";

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
): Promise<{ program: RunningProgram; address: string }> {
  const nginx = findNginx();
  if (nginx === undefined) throw new UserError("There is no nginx.");
  const address = `127.0.0.1:${await freePort()}`;
  // As many workers as the Go runtime has threads.
  const config = copyConfig("nginx.conf", folder, { address, origin, certificates, cores: String(CORES) });
  const said: string[] = [];
  // The kernel would kill only the master with this process, and its workers would go on: TERM lets it end them.
  const setpriv = findProgram("setpriv");
  const before = setpriv === undefined ? [] : ["--pdeathsig", "TERM", "--", nginx];
  // Its workers must be able to write into the folder.
  const user = process.getuid?.() === 0 ? ["-g", "user root;"] : [];
  const program = startProgram(setpriv ?? nginx, {
    args: [...before, "-e", "stderr", "-p", folder, "-c", config, ...user],
    onLine: (line) => said.push(line),
    onErrorLine: (line) => said.push(line),
  });
  const ended = program.ended.then((why) => {
    throw new UserError([`nginx did not start (${why}).`, ...said].join("\n"));
  });
  await Promise.race([untilListens("nginx", address), ended]);
  return { program, address };
}
