import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../base/user-error.ts";
import { findOrInstall } from "../../infra/setup/programs.ts";
import { freePort, untilListens } from "../../infra/workerd/listening.ts";
import { type RunningProgram, startProgram } from "../../infra/workerd/processes.ts";

/** Debian's Caddy; undefined where it is not installed and cannot be. */
export function findCaddy(): string | undefined {
  found ??= { program: findOrInstall(["caddy"], "caddy") };
  return found.program;
}

/** An installation is tried once. */
let found: { readonly program: string | undefined } | undefined;

/** Such as `2.6.2 (go1.19.8)`: another Go than the edge's is part of what differs. */
export function caddyVersion(program: string): string {
  const said = (command: string): string => spawnSync(program, [command], { encoding: "utf8" }).stdout;
  const version = /^v?(\d\S*)/.exec(said("version"))?.[1] ?? "unknown";
  return `${version} (${/^go\s+(go\S+)/m.exec(said("build-info"))?.[1] ?? "an unknown Go"})`;
}

/**
 * Starts Caddy on a free port of the loopback, before the origin; resolves when it takes connections.
 *
 * @param origin HOST:PORT
 * @param certificates the folder of the development certificate
 * @throws UserError
 */
export async function startCaddy(
  folder: string,
  origin: string,
  certificates: string,
): Promise<{ program: RunningProgram; addresses: readonly string[] }> {
  const caddy = findCaddy();
  if (caddy === undefined) throw new UserError("There is no Caddy.");
  const address = `127.0.0.1:${await freePort()}`;
  mkdirSync(folder, { recursive: true });
  const config = join(folder, "caddy.json");
  writeFileSync(config, caddyConfig({ folder, address, origin, certificates }));
  const said: string[] = [];
  const program = startProgram(caddy, {
    args: ["run", "--config", config],
    // Where it would write besides.
    env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    onLine: (line) => said.push(line),
    onErrorLine: (line) => said.push(line),
  });
  const ended = program.ended.then((why) => {
    throw new UserError([`Caddy did not start (${why}).`, ...said].join("\n"));
  });
  await Promise.race([untilListens("Caddy", address), ended]);
  return { program, addresses: [address] };
}

/**
 * caddy.json, with values in place of `{{names}}`. What is fair beside the edge: HTTP/1.1 and HTTP/2 alone, connections kept alive on both
 * sides, no log of requests, nothing compressed, no admin endpoint. Go takes as many threads as there are cores.
 */
export function caddyConfig(values: {
  readonly folder: string;
  readonly address: string;
  readonly origin: string;
  readonly certificates: string;
}): string {
  const text = readFileSync(join(import.meta.dirname, "caddy.json"), "utf8");
  return Object.entries(values).reduce((config, [name, value]) => config.replaceAll(`{{${name}}}`, () => value), text);
}
