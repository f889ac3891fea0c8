import type { MiddlewareHandler } from "hono";
import type { RouteConfig } from "@hono/zod-openapi";
import { type Scope, SCOPES } from "./contract/access.ts";
import type { PolicyApiPorts } from "./ports.ts";
import { Problem } from "./problem.ts";
import { findToken } from "./tokens.ts";
import { jsonBody } from "./json-body.ts";

/** What handlers find in the context of a call. */
export interface ApiEnv {
  Variables: {
    ports: PolicyApiPorts;
    /** The name of the call's token. */
    actor: string;
    scope: Scope;
  };
}

const CHALLENGE = { "www-authenticate": 'Bearer realm="adaptive-h3"' };

/** Lets a call pass if its token may do this (RFC 6750): `Authorization: Bearer <token>`. */
function requires(scope: Scope): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const ports = c.get("ports");
    const { tokens } = ports;
    if (tokens.length === 0)
      throw new Problem(
        403,
        "no token is configured: set the secret POLICY_TOKENS, with `wrangler dev` in .dev.vars (npm run policy -- token makes one)",
      );
    const header = c.req.header("authorization");
    const presented = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(header ?? "")?.[1];
    if (presented === undefined) throw new Problem(401, "send a token: Authorization: Bearer <token>", {}, CHALLENGE);
    // Before the limit: wrong tokens from an address never keep out the right one, which may be on its way to the kill
    // switch.
    const token = await findToken(presented, tokens);
    if (token === undefined) throw await refusal(ports, c.req.raw);
    if (SCOPES.indexOf(token.scope) < SCOPES.indexOf(scope)) {
      const headers = { "www-authenticate": `${CHALLENGE["www-authenticate"]}, error="insufficient_scope"` };
      throw new Problem(403, `the token ${token.name} may read only`, {}, headers);
    }
    c.set("actor", token.name);
    c.set("scope", token.scope);
    return next();
  };
}

/** What the holder of a wrong token gets: 429 after too many, else 401. */
async function refusal(
  ports: Pick<PolicyApiPorts, "callerAddress" | "failedAttempts">,
  request: Request,
): Promise<Problem> {
  const { failedAttempts } = ports;
  const nowMs = Date.now();
  const address = ports.callerAddress(request);
  const waitMs = address === undefined ? 0 : await failedAttempts.waitMs(address, nowMs);
  if (waitMs > 0) {
    const waitS = Math.ceil(waitMs / 1000);
    return new Problem(429, `too many wrong tokens: try again in ${waitS} s`, {}, { "retry-after": String(waitS) });
  }
  if (address !== undefined) await failedAttempts.add(address, nowMs);
  const headers = { "www-authenticate": `${CHALLENGE["www-authenticate"]}, error="invalid_token"` };
  return new Problem(401, "this token is not known", {}, headers);
}

/** A route of the contract, with what runs before its handler: it checks the token and reads the body. */
export function guarded<R extends RouteConfig & { readonly scope: Scope }>({
  scope,
  ...route
}: R): Omit<R, "scope"> & { middleware: MiddlewareHandler[] } {
  const body = route.request?.body === undefined ? [] : jsonBody;
  return { ...route, middleware: [requires(scope) as MiddlewareHandler, ...body] };
}
