# workerd on your own machine, behind infra/edge. Variables come from the environment of `workerd serve`. Its command line
# gives the addresses of the sockets and the folders (see workerd.ts):
#   workerd serve config.capnp --socket-addr visitors=unix:... --socket-addr samples=unix:... \
#     --directory-path state=... --directory-path marker=...
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    ( name = "worker",
      worker = (
        modules = [ ( name = "worker.js", esModule = embed "../../dist/worker.js" ) ],
        # The same as in wrangler.toml; a test compares the two.
        compatibilityDate = "2026-10-01",
        bindings = [
          ( name = "PATHS", durableObjectNamespace = "PathStore" ),
          ( name = "POLICY", durableObjectNamespace = "PolicyStore" ),
          ( name = "COUNTERS", durableObjectNamespace = "CounterStore" ),
          # infra/edge sets the client's address and request.cf, and removes what visitors send under those names.
          ( name = "EDGE", text = "adaptive-h3" ),
          ( name = "MARKER", service = "marker" ),
          ( name = "ORIGIN", fromEnvironment = "ORIGIN" ),
          ( name = "ACTUATOR", fromEnvironment = "ACTUATOR" ),
          ( name = "ASSETS", fromEnvironment = "ASSETS" ),
          ( name = "BUDGET_MS", fromEnvironment = "BUDGET_MS" ),
          ( name = "OBJECTS_PER_REGION", fromEnvironment = "OBJECTS_PER_REGION" ),
          ( name = "LOG_DECISIONS", fromEnvironment = "LOG_DECISIONS" ),
          ( name = "TELL_DECISIONS", fromEnvironment = "TELL_DECISIONS" ),
          ( name = "POLICY_TOKENS", fromEnvironment = "POLICY_TOKENS" ),
          ( name = "CLIENT_KEY", fromEnvironment = "CLIENT_KEY" ),
          ( name = "API_ORIGINS", fromEnvironment = "API_ORIGINS" ),
        ],
        durableObjectNamespaces = [
          ( className = "PathStore", uniqueKey = "adaptive-h3-PathStore", enableSql = true ),
          ( className = "PolicyStore", uniqueKey = "adaptive-h3-PolicyStore", enableSql = true ),
          ( className = "CounterStore", uniqueKey = "adaptive-h3-CounterStore", enableSql = true ),
        ],
        durableObjectStorage = ( localDisk = "state" ),
      ) ),
    ( name = "state", disk = ( writable = true ) ),
    # A file here says which store this deployment has, so that an emptied store does not pass for a new one.
    ( name = "marker", disk = ( writable = true ) ),
    # The origin may be on this machine or in its network: so private and local addresses too. An https origin must show a certificate
    # that this machine trusts; SSL_CERT_FILE names other authorities, for the edge too.
    ( name = "internet", network = (
      allow = ["public", "private", "local"],
      tlsOptions = ( trustBrowserCas = true ),
    ) ),
  ],
  sockets = [
    # Whoever can write to this socket controls request.cf. So the socket is in a folder that only this user can enter.
    ( name = "visitors", http = ( cfBlobHeader = "MF-CF-Blob" ), service = "worker" ),
    ( name = "samples", http = (), service = ( name = "worker", entrypoint = "SampleListener" ) ),
  ],
);
