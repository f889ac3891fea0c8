import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { UserError } from "../../base/user-error.ts";
import { findProxies, type Proxies } from "../setup/proxies.ts";
import { testFolder } from "./harness.ts";

// How to start each example of docs/decisions.md, with its files unchanged.

const EXAMPLES = join(ROOT, "docs/examples");

/** The settings of an example. */
export interface Site {
  /** HOST:PORT on which the example has to listen. */
  readonly listen: string;
  /** HOST:PORT of the site's origin. */
  readonly origin: string;
  /** The port of the API, on localhost. */
  readonly apiPort: number;
  readonly token: string;
  /** The certificate to trust. */
  readonly ca: string;
}

export interface ExampleProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export type Example = (site: Site) => ExampleProgram;

export const haproxy: Example = ({ listen, origin, apiPort, token, ca }) => ({
  file: requireProxies().haproxy,
  args: ["-db", "-f", join(EXAMPLES, "haproxy/haproxy.cfg")],
  env: {
    LISTEN: listen,
    ORIGIN: origin,
    H3_API: `https://localhost:${apiPort}`,
    H3_API_ADDRESS: `127.0.0.1:${apiPort}`,
    H3_TOKEN: token,
    H3_CA: ca,
  },
});

export const nginx: Example = ({ listen, origin, apiPort, token, ca }) => {
  const { nginx: file, nginxJsModule } = requireProxies();
  const folder = testFolder();
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join("\n  ");
  const config = join(folder, "nginx.conf");
  // The lines that h3-http.conf needs above itself. nginx runs as one process, so that ending it ends all.
  writeFileSync(
    config,
    `load_module ${nginxJsModule};
daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr warn;
events {}
http {
  access_log off;
  ${temporary}
  js_path ${EXAMPLES}/nginx;
  proxy_cache_path ${folder}/h3 keys_zone=h3:1m inactive=1m;
  proxy_ssl_trusted_certificate ${ca};
  upstream h3_api { server 127.0.0.1:${apiPort}; keepalive 4; }
  map "" $h3_api_host { default localhost; }
  map "" $h3_api_token { default ${token}; }
  include ${EXAMPLES}/nginx/h3-http.conf;
  server {
    listen ${listen};
    include ${EXAMPLES}/nginx/h3-server.conf;
    location / { proxy_pass http://${origin}; }
  }
}
`,
  );
  return { file, args: ["-e", "stderr", "-p", folder, "-c", config] };
};

export const nodeOrigin: Example = inNode("docs/examples/javascript/origin.js");
export const edgeFunction: Example = inNode("infra/e2e/fetch-host.ts");

function inNode(script: string): Example {
  return ({ listen, origin, apiPort, token, ca }) => ({
    file: process.execPath,
    args: [join(ROOT, script)],
    env: {
      PORT: listen.slice(listen.indexOf(":") + 1),
      ORIGIN: `http://${origin}`,
      H3_API: `https://localhost:${apiPort}`,
      H3_TOKEN: token,
      NODE_EXTRA_CA_CERTS: ca,
    },
  });
}

/** @throws UserError */
export function requireProxies(): Proxies {
  const proxies = findProxies();
  if (proxies === undefined)
    throw new UserError("These tests need the Debian packages haproxy, nginx and libnginx-mod-http-js.");
  return proxies;
}
