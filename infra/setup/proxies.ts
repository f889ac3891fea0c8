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
export const NGINX_JS_PACKAGE = "libnginx-mod-http-js";

/** Finds or installs the proxies. Undefined if one is missing and cannot be installed. */
export function findProxies(): Proxies | undefined {
  const haproxy = findOrInstall(["haproxy"], "haproxy");
  const nginx = findOrInstall(["nginx"], "nginx");
  if (haproxy === undefined || nginx === undefined) return undefined;
  const nginxJsModule = findNginxJsModule();
  return nginxJsModule === undefined ? undefined : { haproxy, nginx, nginxJsModule };
}

/** Finds or installs njs for Debian's nginx. Undefined if it is missing and cannot be installed. */
export function findNginxJsModule(): string | undefined {
  return existsSync(NGINX_JS_MODULE) || installPackage(NGINX_JS_PACKAGE) ? NGINX_JS_MODULE : undefined;
}
