import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { ROOT } from "../../base/root.ts";

/**
 * Writes a configuration of workerd in which several services run the worker. Each has its own isolate, and all use the
 * Durable Objects of the first. So one process has what Cloudflare has in many places.
 *
 * @returns the path, for startWorkerd's `config`. The first service listens on `visitors`, the others on `sockets`.
 */
export function writeManyIsolates(folder: string, sockets: readonly string[]): string {
  const config = readFileSync(join(ROOT, "infra/workerd/config.capnp"), "utf8");
  const worker = section(config, '    ( name = "worker",', "\n      ) ),");
  const services = sockets.map((_, i) =>
    worker
      .replace('name = "worker",', `name = "worker-${i}",`)
      .replaceAll(
        /durableObjectNamespace = "(\w+)"/g,
        'durableObjectNamespace = ( className = "$1", serviceName = "worker" )',
      )
      .replace(/\n {8}durableObjectNamespaces = \[[^]*?\n {8}\],/, "")
      .replace(/\n {8}durableObjectStorage = .*/, ""),
  );
  const listening = sockets.map(
    (path, i) =>
      `    ( name = "visitors-${i}", address = "unix:${path}", http = ( cfBlobHeader = "MF-CF-Blob" ), service = "worker-${i}" ),`,
  );
  const file = join(folder, "many-isolates.capnp");
  writeFileSync(
    file,
    config
      .replace(worker, [worker, ...services].join("\n"))
      .replace("  sockets = [", ["  sockets = [", ...listening].join("\n"))
      // capnp reads the path relative to the written file, and has another meaning for an absolute path.
      .replaceAll('embed "../../dist/worker.js"', `embed "${relative(folder, join(ROOT, "dist/worker.js"))}"`),
  );
  return file;
}

/** The part of a text from `beginning` to the first `end` after it, both included. */
function section(text: string, beginning: string, end: string): string {
  const from = text.indexOf(beginning);
  const to = text.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`config.capnp has no ${beginning}`);
  return text.slice(from, to + end.length);
}
