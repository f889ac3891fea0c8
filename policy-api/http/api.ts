import { Hono, type MiddlewareHandler } from "hono";
import { bearerAuth } from "hono/bearer-auth";
import { bodyLimit } from "hono/body-limit";
import { HTTPException } from "hono/http-exception";
import { parsePolicy } from "../core/parse-policy.ts";
import { explain } from "./explain.ts";
import { Problem, renderProblem } from "./problem.ts";
import type { PolicyApiPorts } from "./ports.ts";

const BODY_MAX_BYTES = 262_144;
/** Where the API lives on the site's own host name. */
export const API_PREFIX = "/_h3/";

/**
 * The API under `/_h3/v1`: `health`, `policy` (GET, PUT), `explain` (POST). With a token configured everything but
 * `health` wants it; without one the writing side is off.
 */
export function createApi<Env extends object>(portsOf: (env: Env) => PolicyApiPorts): Hono<{ Bindings: Env }> {
  const api = new Hono<{ Bindings: Env }>().basePath("/_h3/v1");

  api.onError((error, c) => {
    if (error instanceof Problem) return renderProblem(c, error);
    if (error instanceof HTTPException) return renderProblem(c, unauthorized(error));
    return renderProblem(c, new Problem(503, "Service Unavailable", "the policy store does not answer; try again"));
  });
  api.notFound((c) =>
    renderProblem(
      c,
      new Problem(404, "Not Found", "known: GET health, GET and PUT policy, POST explain, under /_h3/v1"),
    ),
  );
  api.use(async (c, next) => {
    await next();
    c.header("cache-control", "no-store");
  });

  api.get("/health", async (c) => {
    const { store, settingsFaults } = portsOf(c.env);
    const bundle = await store.current().catch(() => null);
    const policy = bundle === null ? "unreachable" : bundle === undefined ? "unreadable" : "ok";
    const healthy = policy === "ok" && settingsFaults.length === 0;
    return c.json(
      { status: healthy ? "ok" : "degraded", policy, version: bundle?.version ?? null, settings: settingsFaults },
      healthy ? 200 : 503,
    );
  });

  // Made per request, as the token comes with the request's environment. Compares in constant time.
  const authenticate: MiddlewareHandler<{ Bindings: Env }> = async (c, next) => {
    const { token } = portsOf(c.env);
    if (token !== undefined) return bearerAuth<{ Bindings: Env }>({ token })(c, next);
    if (c.req.method === "PUT")
      throw new Problem(403, "Forbidden", "writing is off: configure the secret POLICY_TOKEN to turn it on");
    return next();
  };
  api.use("/policy", authenticate);
  api.use("/explain", authenticate);
  api.use(
    bodyLimit({
      maxSize: BODY_MAX_BYTES,
      onError: () => {
        throw new Problem(413, "Content Too Large", `a body may have ${BODY_MAX_BYTES} bytes`);
      },
    }),
  );

  api.get("/policy", async (c) => {
    const inForce = await portsOf(c.env).store.current();
    if (inForce === undefined)
      throw new Problem(503, "Service Unavailable", "the stored policy cannot be read: put a valid one");
    return c.json({ version: inForce.version, policy: inForce.policy });
  });

  api.put("/policy", async (c) => {
    const parsed = parsePolicy(await jsonBody(c.req));
    if (!parsed.ok)
      throw new Problem(422, "Unprocessable Content", "the policy is not valid; the one in force stays", {
        faults: parsed.faults,
      });
    const ports = portsOf(c.env);
    const inForce = await ports.store.put(parsed.value);
    await ports.policyChanged(inForce);
    return c.json({ version: inForce.version, policy: inForce.policy });
  });

  api.post("/explain", async (c) => {
    const port = Number(new URL(c.req.url).port) || 443;
    const explained = await explain(await jsonBody(c.req), portsOf(c.env).store, Date.now(), port);
    if (!explained.ok)
      throw new Problem(422, "Unprocessable Content", "the question is not valid", { faults: explained.faults });
    return c.json(explained.value);
  });

  for (const [path, allow] of [
    ["/health", "GET, HEAD"],
    ["/policy", "GET, HEAD, PUT"],
    ["/explain", "POST"],
  ] as const)
    api.all(path, () => {
      throw new Problem(405, "Method Not Allowed", `allowed here: ${allow}`, { headers: { allow } });
    });

  return api;
}

async function jsonBody(request: { json(): Promise<unknown> }): Promise<unknown> {
  try {
    return await request.json();
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(400, "Bad Request", "the body must be JSON");
  }
}

/** What bearerAuth throws (RFC 6750 section 3), as a problem. */
function unauthorized(error: HTTPException): Problem {
  const challenge = error.getResponse().headers.get("www-authenticate");
  return new Problem(
    error.status === 400 ? 400 : 401,
    error.status === 400 ? "Bad Request" : "Unauthorized",
    "send the configured token: Authorization: Bearer <token>",
    challenge === null ? {} : { headers: { "www-authenticate": challenge } },
  );
}
