import { existsSync } from "node:fs";
import { findOrInstall, installPackage } from "./programs.ts";

/** Proxies that the examples of docs/decisions.md are for, as Debian packs them. */
export interface Proxies {
  readonly haproxy: string;
  readonly nginx: string;
  /** njs, a package of its own. */
  readonly nginxJsModule: string;
}

const NGINX_JS_MODULE = "/usr/lib/nginx/modules/ngx_http_js_module.so";

/** Undefined where one is not installed and cannot be. */
export function findProxies(): Proxies | undefined {
  const haproxy = findOrInstall(["haproxy"], "haproxy");
  const nginx = findOrInstall(["nginx"], "nginx");
  if (haproxy === undefined || nginx === undefined) return undefined;
  if (!existsSync(NGINX_JS_MODULE) && !installPackage("libnginx-mod-http-js")) return undefined;
  return { haproxy, nginx, nginxJsModule: NGINX_JS_MODULE };
}
