import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { ROOT } from "../../base/root.ts";

/**
 * Writes a configuration of workerd in which several services run the worker, each in an isolate of its own, over the
 * Durable Objects of the first: what Cloudflare has in many places, in one process.
 *
 * @returns its path, for startWorkerd's `config`; further services listen where `sockets` says, with `visitors` as the first.
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
      // Relative to the file itself, which lies elsewhere; of a path from the root capnp would take its own.
      .replaceAll('embed "../../dist/worker.js"', `embed "${relative(folder, join(ROOT, "dist/worker.js"))}"`),
  );
  return file;
}

/** The part of a text from a beginning to the first end after it, both included. */
function section(text: string, beginning: string, end: string): string {
  const from = text.indexOf(beginning);
  const to = text.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`config.capnp has no ${beginning}`);
  return text.slice(from, to + end.length);
}
