# The least that a worker in front of an origin can do: it passes on. The sockets are those of infra/workerd/config.capnp.
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    ( name = "worker", worker = (
      modules = [ ( name = "worker.js", esModule =
        "export default {\n"
        "  fetch(request, env) {\n"
        "    const url = new URL(request.url);\n"
        "    return fetch(new Request(env.ORIGIN + url.pathname + url.search, request), { redirect: 'manual' });\n"
        "  },\n"
        "};\n" ) ],
      # As in infra/workerd/config.capnp; a test compares the two.
      compatibilityDate = "2026-10-01",
      bindings = [ ( name = "ORIGIN", fromEnvironment = "ORIGIN" ) ] ) ),
    ( name = "state", disk = ( writable = true ) ),
    ( name = "marker", disk = ( writable = true ) ),
    ( name = "internet", network = ( allow = ["private", "local", "public"] ) ) ],
  sockets = [
    ( name = "visitors", http = ( cfBlobHeader = "MF-CF-Blob" ), service = "worker" ),
    ( name = "samples", http = (), service = "worker" ) ] );
