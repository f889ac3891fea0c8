import type { RouteConfig } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import type { Scope } from "./contract/access.ts";
import { requires } from "./authenticate.ts";
import { jsonBody } from "./json-body.ts";

/** A route of the contract, with what runs before its handler: it checks the token and reads the body. */
export function guarded<R extends RouteConfig & { readonly scope: Scope }>({
  scope,
  ...route
}: R): Omit<R, "scope"> & { middleware: MiddlewareHandler[] } {
  const body = route.request?.body === undefined ? [] : jsonBody;
  return { ...route, middleware: [requires(scope) as MiddlewareHandler, ...body] };
}
