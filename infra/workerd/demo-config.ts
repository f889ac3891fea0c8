import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { build } from "esbuild";
import { ROOT } from "../../base/root.ts";

const MODULE = "emulate.js";

/**
 * Writes the demonstration's configuration of workerd, in which `emulate.ts` stands before the worker. Only there can a page be decided by
 * figures that nobody measured: what other sites run has none of it.
 *
 * @returns the path, for startWorkerd's `config`
 */
export async function writeDemoConfig(folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const outfile = join(folder, MODULE);
  await build({ entryPoints: [join(ROOT, "infra/workerd/emulate.ts")], bundle: true, format: "esm", outfile });
  const own = readFileSync(join(ROOT, "infra/workerd/config.capnp"), "utf8");
  const [, date = ""] = /compatibilityDate = "(.*)"/.exec(own) ?? [];
  const file = join(folder, "demo.capnp");
  writeFileSync(
    file,
    own
      .replace(
        'cfBlobHeader = "MF-CF-Blob" ), service = "worker"',
        'cfBlobHeader = "MF-CF-Blob" ), service = "emulate"',
      )
      .replace(
        "services = [",
        `services = [
    ( name = "emulate", worker = (
      modules = [ ( name = "${MODULE}", esModule = embed "${MODULE}" ) ],
      compatibilityDate = "${date}",
      bindings = [ ( name = "WORKER", service = "worker" ) ],
    ) ),`,
      )
      // capnp reads the path relative to the written file, and has another meaning for an absolute path.
      .replace('embed "../../dist/worker.js"', `embed "${relative(folder, join(ROOT, "dist/worker.js"))}"`),
  );
  return file;
}
