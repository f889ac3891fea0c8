import { type RouteConfig, z } from "@hono/zod-openapi";
import { strict } from "./fields.ts";

/** The body of every refusal (RFC 9457). */
export const ProblemDetails = z
  .looseObject({
    type: z.literal("about:blank"),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    faults: z
      .array(strict({ pointer: z.string(), message: z.string() }))
      .optional()
      .openapi({ description: "The faults, at most 100, each with a JSON pointer to its place" }),
  })
  .openapi("Problem");

const PROBLEMS = {
  400: "The body is not JSON, or the request is not as documented",
  401: "There is no token, or the server does not know it",
  403: "The token may only read, or no token is configured",
  404: "Not there",
  409: "There is nothing to go back to, or nothing that can be read",
  412: "Somebody changed it meanwhile; `current` says what there is now",
  413: "The body is too large",
  422: "Each value is as documented, but the values do not fit together",
  428: "If-Match is missing",
  429: "This token is wrong, as were too many before it from this address. Retry-After says how long to wait",
  503: "The store does not answer, or its contents cannot be read",
} as const;

/** The refusals of a route. Typed as `object`, so that neither a handler nor the client has them among its replies. */
export function problems(...more: (keyof typeof PROBLEMS)[]): object {
  const responses: RouteConfig["responses"] = {};
  for (const status of [400, 401, 403, 429, 503, ...more] as const)
    responses[status] = {
      description: PROBLEMS[status],
      content: { "application/problem+json": { schema: ProblemDetails } },
    };
  return responses;
}

export function jsonOf<T extends z.ZodType>(description: string, schema: T) {
  return { description, content: { "application/json": { schema } } };
}

/** A body that must be sent. */
export function bodyOf<T extends z.ZodType>(schema: T) {
  return { ...jsonOf("", schema), required: true };
}
