import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { startWorkerd, type Workerd } from "../../infra/workerd/workerd.ts";

/** The least that a worker in front of an origin can do. */
const WORKER = `export default {
  fetch(request, env) {
    const url = new URL(request.url);
    return fetch(new Request(env.ORIGIN + url.pathname + url.search, request), { redirect: "manual" });
  },
};`;

/** A workerd whose worker passes on and does nothing else. @throws UserError */
export async function startPassThrough(folder: string, origin: string): Promise<Workerd> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "worker.js"), WORKER);
  const config = join(folder, "config.capnp");
  const ours = readFileSync(join(ROOT, "infra/workerd/config.capnp"), "utf8");
  const compatibilityDate = /compatibilityDate = "(.*)"/.exec(ours)?.[1] ?? "";
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    ( name = "worker", worker = (
      modules = [ ( name = "worker.js", esModule = embed "worker.js" ) ], compatibilityDate = "${compatibilityDate}",
      bindings = [ ( name = "ORIGIN", fromEnvironment = "ORIGIN" ) ] ) ),
    ( name = "state", disk = ( writable = true ) ),
    ( name = "marker", disk = ( writable = true ) ),
    ( name = "internet", network = ( allow = ["private", "local", "public"] ) ) ],
  sockets = [
    ( name = "visitors", http = ( cfBlobHeader = "MF-CF-Blob" ), service = "worker" ),
    ( name = "samples", http = (), service = "worker" ) ] );
`,
  );
  return startWorkerd({ stateDir: folder, origin, config });
}
