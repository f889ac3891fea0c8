import type { RouteConfig, z } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import { requires } from "./authenticate.ts";
import { jsonBody } from "./json-body.ts";
import { etagged, Problem } from "./schemas.ts";
import type { Scope } from "./tokens.ts";

// What the declarations of routes have in common.

const PROBLEMS = {
  400: "The body is no JSON, or the request is not as documented",
  401: "No token, or one that is not known",
  403: "The token may only read, or none is configured",
  404: "There is none",
  409: "There is nothing to go back to",
  412: "Changed meanwhile: `current` tells what there is now",
  413: "The body is too large",
  422: "Each value is as documented, but they do not go together",
  428: "If-Match is missing",
  429: "Too many wrong tokens from this address; Retry-After tells how long",
  503: "The store does not answer, or what it has cannot be read",
} as const;

/** Who may call, and whether a body is read. */
export function guarded(
  scope: Scope,
  body?: "body",
): { security: Record<string, string[]>[]; middleware: MiddlewareHandler[] } {
  return {
    security: [{ token: [] }],
    middleware: [requires(scope) as MiddlewareHandler, ...(body === undefined ? [] : jsonBody)],
  };
}

export function jsonOf<T extends z.ZodType>(
  description: string,
  schema: T,
): { description: string; content: { "application/json": { schema: T } } } {
  return { description, content: { "application/json": { schema } } };
}

/** What a call that changes nothing is answered with when its If-None-Match holds. */
export const notModified = { description: "The caller has it: If-None-Match", headers: etagged };

/** Problems are thrown, so that no handler's type has them. */
export function problems(...more: (keyof typeof PROBLEMS)[]): object {
  const responses: RouteConfig["responses"] = {};
  for (const status of [400, 401, 403, 429, 503, ...more] as const)
    responses[status] = {
      description: PROBLEMS[status],
      content: { "application/problem+json": { schema: Problem } },
    };
  return responses;
}
