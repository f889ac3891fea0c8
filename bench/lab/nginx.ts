import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../../base/find-program.ts";
import { UserError } from "../../base/user-error.ts";
import { findOrInstall } from "../../infra/setup/programs.ts";
import { findNginxJsModule, NGINX_JS_PACKAGE } from "../../infra/setup/proxies.ts";
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

/** The path of njs, for this nginx; undefined where one of them is not installed and cannot be. */
export function findNginxJs(): string | undefined {
  foundJs ??= { module: findNginx() === undefined ? undefined : findNginxJsModule() };
  return foundJs.module;
}

let foundJs: { readonly module: string | undefined } | undefined;

/** Such as 0.7.9, by its Debian package: nginx does not say it. */
export function nginxJsVersion(): string {
  const { stdout } = spawnSync("dpkg-query", ["-W", "-f", "${Version}", NGINX_JS_PACKAGE], { encoding: "utf8" });
  return /^[\d.]+/.exec(stdout ?? "")?.[0] ?? "unknown";
}

/**
 * Starts nginx on a free port of the loopback, before the origin; resolves when it takes connections.
 *
 * @param origin HOST:PORT
 * @param certificates the folder of the development certificate
 * @param decides whether njs sets an Alt-Svc on pages (nginx-decide.js)
 * @throws UserError
 */
export async function startNginx(
  folder: string,
  origin: string,
  certificates: string,
  decides: boolean,
): Promise<{ program: RunningProgram; addresses: readonly string[] }> {
  const nginx = findNginx();
  if (nginx === undefined) throw new UserError("There is no nginx.");
  const njs = decides ? findNginxJs() : undefined;
  if (decides && njs === undefined) throw new UserError("There is no njs for nginx.");
  const address = `127.0.0.1:${await freePort()}`;
  mkdirSync(folder, { recursive: true });
  const config = join(folder, "nginx.conf");
  writeFileSync(config, nginxConfig({ address, origin, certificates, njs }));
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

/** nginx.conf, with values in place of `{{names}}`. @param njs the path of the module, where it decides */
export function nginxConfig({
  njs,
  ...given
}: {
  readonly address: string;
  readonly origin: string;
  readonly certificates: string;
  readonly njs: string | undefined;
}): string {
  const text = readFileSync(join(import.meta.dirname, "nginx.conf"), "utf8");
  const values = { ...given, ...(njs === undefined ? { main: "", http: "", server: "" } : deciding(njs)) };
  return Object.entries(values).reduce((config, [name, value]) => config.replaceAll(`{{${name}}}`, () => value), text);
}

/** What an nginx has besides where njs decides. */
function deciding(module: string) {
  const script = join(import.meta.dirname, "nginx-decide.js");
  return {
    main: `load_module ${module};`,
    http: `js_import decide from "${script}"; js_set $decided_alt_svc decide.altSvc;`,
    server: "proxy_hide_header Alt-Svc; add_header Alt-Svc $decided_alt_svc;",
  };
}
