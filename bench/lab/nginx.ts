import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../../base/find-program.ts";
import { UserError } from "../../base/user-error.ts";
import { findOrInstall } from "../../infra/setup/programs.ts";
import { freePort, untilListens } from "../../infra/workerd/listening.ts";
import { type RunningProgram, startProgram } from "../../infra/workerd/processes.ts";
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

/** Starts nginx on a free port of the loopback, before the origin; resolves when it takes connections. @throws UserError */
export async function startNginx(options: {
  program: string;
  folder: string;
  /** HOST:PORT */
  origin: string;
  certFile: string;
  keyFile: string;
}): Promise<{ program: RunningProgram; address: string }> {
  mkdirSync(options.folder, { recursive: true });
  const address = `127.0.0.1:${await freePort()}`;
  const config = join(options.folder, "nginx.conf");
  writeFileSync(config, nginxConfig({ ...options, address, isRoot: process.getuid?.() === 0 }));
  const said: string[] = [];
  // The kernel would kill only the master with this process, and its workers would go on: TERM lets it end them.
  const setpriv = findProgram("setpriv");
  const before = setpriv === undefined ? [] : ["--pdeathsig", "TERM", "--", options.program];
  const program = startProgram(setpriv ?? options.program, {
    args: [...before, "-e", "stderr", "-p", options.folder, "-c", config],
    onLine: (line) => said.push(line),
    onErrorLine: (line) => said.push(line),
  });
  const ended = program.ended.then((why) => {
    throw new UserError([`nginx did not start (${why}).`, ...said].join("\n"));
  });
  await Promise.race([untilListens("nginx", address), ended]);
  return { program, address };
}

/**
 * What is fair beside the edge: as many workers as the Go runtime has threads; connections kept alive for ever on both
 * sides, as the edge does (nginx ends them after 1,000 requests by default); nothing logged, nothing compressed, and
 * no response written to a file, however large.
 */
export function nginxConfig(options: {
  address: string;
  origin: string;
  folder: string;
  certFile: string;
  keyFile: string;
  isRoot: boolean;
}): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `  ${kind}_temp_path ${options.folder}/${kind};`)
    .join("\n");
  return `daemon off;
${options.isRoot ? "user root;\n" : ""}worker_processes ${CORES};
pid ${options.folder}/nginx.pid;
error_log stderr warn;
events { worker_connections 4096; }
http {
  access_log off;
${temporary}
  proxy_max_temp_file_size 0;
  proxy_buffers 16 32k;
  proxy_buffer_size 32k;
  proxy_busy_buffers_size 256k;
  upstream origin { server ${options.origin}; keepalive 256; keepalive_requests 1000000000; }
  server {
    listen ${options.address} ssl http2 backlog=4096;
    ssl_certificate ${options.certFile};
    ssl_certificate_key ${options.keyFile};
    ssl_protocols TLSv1.2 TLSv1.3;
    keepalive_requests 1000000000;
    location / {
      proxy_pass http://origin;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto https;
    }
  }
}
`;
}
