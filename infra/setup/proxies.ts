import { existsSync } from "node:fs";
import { findOrInstall, installPackage } from "./programs.ts";

/** The proxies that the examples of docs/decisions.md need, from Debian's packages. */
export interface Proxies {
  readonly haproxy: string;
  readonly nginx: string;
  /** njs, which is a separate package. */
  readonly nginxJsModule: string;
}

const NGINX_JS_MODULE = "/usr/lib/nginx/modules/ngx_http_js_module.so";

/** Finds or installs the proxies. Undefined if one is missing and cannot be installed. */
export function findProxies(): Proxies | undefined {
  const haproxy = findOrInstall(["haproxy"], "haproxy");
  const nginx = findOrInstall(["nginx"], "nginx");
  if (haproxy === undefined || nginx === undefined) return undefined;
  if (!existsSync(NGINX_JS_MODULE) && !installPackage("libnginx-mod-http-js")) return undefined;
  return { haproxy, nginx, nginxJsModule: NGINX_JS_MODULE };
}
