import { type RouteConfig, z } from "@hono/zod-openapi";
import type { Scope } from "./access.ts";
import { strict } from "./fields.ts";

type Method = "get" | "post" | "put" | "delete";
type Head<M, P> = [method: M, path: P, operationId: string, summary: string];

/** The head of a route that needs no token. The first part of its path is its tag. */
export function open<const M extends Method, const P extends string>(
  ...[method, path, operationId, summary]: Head<M, P>
) {
  return { operationId, method, path, tags: [path.split("/")[1] ?? ""], summary };
}

/** The head of a route that needs a token. The server enforces the scope; the document says only that a token is needed. */
function needs(scope: Scope) {
  return <const M extends Method, const P extends string>(...head: Head<M, P>) => ({
    ...open(...head),
    scope,
    security: [{ token: [] as string[] }],
  });
}
export const reads = needs("read");
export const writes = needs("write");

/** The body of every refusal (RFC 9457). */
export const ProblemDetails = z
  .looseObject({
    type: z.literal("about:blank"),
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

/** Either * or entity tags (RFC 9110 section 8.8.3). */
const TAGS = String.raw`\*|(W/)?"[!#-~]*"([ \t]*,[ \t]*(W/)?"[!#-~]*")*`;
const MESSAGE = 'must be * or entity tags such as "r3"';

/** An If-Match or If-None-Match that a caller may leave out. An empty one counts as left out, as in workerd. */
export const optionalTags = z
  .string()
  .regex(new RegExp(`^(${TAGS})?$`), MESSAGE)
  .optional();

/** Headers of a call that changes the activation (RFC 9110 section 13.1.1). */
export const ifMatch = z.object({
  // Optional here: a call without it gets 428 (RFC 6585), which says more than 400.
  "if-match": z
    .string()
    .regex(new RegExp(`^(${TAGS})$`), MESSAGE)
    .optional()
    .openapi({
      description: "The ETag of what the call changes; * for any",
      example: "*",
      param: { required: true },
    }),
});

/** Headers of a call that reads what has an ETag. */
export const ifNoneMatch = z.object({
  "if-none-match": optionalTags.openapi({ description: "The ETag of the caller's copy", example: '"r3"' }),
});

/** Headers of a reply. */
export const etagged = z.object({
  ETag: z
    .string()
    .regex(/^"[rv]\d+"$/)
    .openapi({ description: "For If-Match and If-None-Match", example: '"r3"' }),
});

/** The reply to a read whose If-None-Match holds. */
export const notModified = { description: "The caller's copy is current (If-None-Match)", headers: etagged };

// What a caller can do next with a reply, as OpenAPI Links (OAS 3.1 section 4.8.20). An ETag is the If-Match of the next
// change; a version can be shown, compared and activated.

function link(operationId: string, description: string, parameters: Readonly<Record<string, string | number>>) {
  return { operationId, description, parameters };
}
const VERSION = { "path.version": "$response.body#/version" };
const IF_MATCH = { "header.if-match": "$response.header.ETag" };
const IF_NONE_MATCH = { "header.if-none-match": "$response.header.ETag" };

/** From a reply with a version and its number. */
export const fromVersion = {
  show: link("getPolicy", "The version", VERSION),
  showIfChanged: link("getPolicy", "Always 304, as versions are immutable", { ...VERSION, ...IF_NONE_MATCH }),
  compare: link("diffPolicies", "How it differs from version 0", {
    "path.version": 0,
    "path.other": "$response.body#/version",
  }),
  activate: {
    ...link("putActivation", "For everyone", { "header.if-match": "*" }),
    requestBody: { everyone: "$response.body#/version" },
  },
};

/** From a page to the next. */
export const nextPage = (operationId: string) =>
  link(operationId, "Older entries", { "query.before": "$response.body#/next" });

/** From a page of versions. */
export const fromVersions = {
  create: link("createPolicy", "Only if nobody has added a version meanwhile", IF_MATCH),
  showNewest: link("getPolicy", "The newest version", { "path.version": "$response.body#/policies/0/version" }),
  nextPage: nextPage("listPolicies"),
};

/** From the activation in force. */
export const fromActivation = {
  put: link("putActivation", "Only if nobody has changed it meanwhile", IF_MATCH),
  rollBack: link("rollBack", "Return to the activation before", IF_MATCH),
  kill: link("putKillSwitch", "Stop offering HTTP/3", IF_MATCH),
  unkill: link("deleteKillSwitch", "Obey the policy again", IF_MATCH),
  showPolicy: link("getPolicy", "The version for everyone", { "path.version": "$response.body#/everyone" }),
  showIfChanged: link("getActivation", "Only if it has changed meanwhile, else 304", IF_NONE_MATCH),
};

const OF_VERSION = { "query.version": "$response.body#/version" };

/** From results of a version. */
export const fromResults = {
  propose: link("getProposal", "What they propose", OF_VERSION),
  showPolicy: link("getPolicy", "The version", VERSION),
};

/** From a proposal. */
export const fromProposal = {
  results: link("getResults", "What it rests on", OF_VERSION),
};
