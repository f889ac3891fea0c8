import { OpenAPIHono, z } from "@hono/zod-openapi";
import { cors } from "hono/cors";
import type { ExecutionContext } from "hono";
import { HTTPException } from "hono/http-exception";
import { API_PATH } from "./contract/access.ts";
import { addActivation } from "./activation.ts";
import { addDecisions } from "./decisions.ts";
import type { ApiEnv } from "./authenticate.ts";
import { addHealth, addProbe, addStats } from "./deployment.ts";
import { readRest } from "./json-body.ts";
import { addPolicies } from "./policies.ts";
import type { PolicyApiPorts } from "./ports.ts";
import { Problem, renderProblem } from "./problem.ts";
import { addRecords } from "./records.ts";
import { addReference } from "./reference.ts";
import { addResults } from "./results.ts";
import { faultsOf, sentenceOf } from "./zod-faults.ts";

export interface Api<Env> {
  fetch(request: Request, env: Env, ctx: ExecutionContext): Response | Promise<Response>;
}

/** How long an answer waits for the rest of a body that nobody reads, milliseconds. */
const REST_MS = 500;

/** The API under `/_h3/v1`. There, `openapi.json` describes it for programs and `reference` for people. */
export function createApi<Env extends object>(
  portsOf: (env: Env, ctx: Pick<ExecutionContext, "waitUntil">) => PolicyApiPorts,
): Api<Env> {
  z.config({ customError: sentenceOf });
  const api = new OpenAPIHono<ApiEnv>({
    defaultHook: (result) => {
      if (!result.success) throw Problem.ofFaults("the request is not valid", faultsOf(result.error, result.target));
    },
  }).basePath(API_PATH);

  api.onError((error, c) => {
    if (error instanceof Problem) return renderProblem(c, error);
    if (error instanceof HTTPException && error.status === 400)
      return renderProblem(c, new Problem(400, "the body must be JSON"));
    c.get("ports")?.failed(error);
    return renderProblem(c, new Problem(503, "the policy store does not answer, or the API failed: try again"));
  });
  api.notFound((c) =>
    renderProblem(c, new Problem(404, `there is nothing here: ${API_PATH}/reference lists what there is`)),
  );

  api.use(async (c, next) => {
    c.set("ports", portsOf(c.env as Env, c.executionCtx));
    const request = c.req.raw;
    await next();
    // Before the answer: a body that is not read when the answer goes out costs the connection. (In waitUntil, 1 of 1,000
    // next calls failed.) A caller that sends slowly gets its answer all the same.
    await within(REST_MS, readRest(request));
    c.header("cache-control", "no-store");
    c.header("x-content-type-options", "nosniff");
  });
  api.use(async (c, next) => {
    const { corsOrigins } = c.get("ports");
    if (corsOrigins.length === 0) return next();
    return cors({
      origin: [...corsOrigins],
      allowHeaders: ["authorization", "content-type", "idempotency-key", "if-match", "if-none-match"],
      exposeHeaders: ["etag", "location", "retry-after"],
    })(c, next);
  });

  addHealth(api);
  addPolicies(api);
  addActivation(api);
  addDecisions(api);
  addResults(api);
  addStats(api);
  addProbe(api);
  addRecords(api);
  addReference(api);
  refuseOtherMethods(api);
  return { fetch: (request, env, ctx) => api.fetch(request, env, ctx) };
}

/** Waits until something succeeds or fails, but no longer than this. */
async function within(ms: number, something: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([something.catch(() => undefined), late]);
  clearTimeout(timer);
}

/** 405 with Allow (RFC 9110 section 15.5.6) for each path that has other methods. */
function refuseOtherMethods(api: OpenAPIHono<ApiEnv>): void {
  const allowed = new Map<string, string[]>();
  for (const { method, path } of api.routes)
    if (method !== "ALL") allowed.set(path, [...new Set([...(allowed.get(path) ?? []), method])]);
  for (const [path, methods] of allowed) {
    const allow = methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
    api.all(path.slice(API_PATH.length), () => {
      throw new Problem(405, `allowed here: ${allow}`, {}, { allow });
    });
  }
}
