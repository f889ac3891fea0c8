import type { MiddlewareHandler } from "hono";
import type { Scope } from "../contract/access.ts";
import type { ApiEnv } from "./env.ts";
import { Problem } from "./problem.ts";
import { findToken } from "./tokens.ts";

const CHALLENGE = { "www-authenticate": 'Bearer realm="adaptive-h3"' };

/** Lets a call pass if its token may do this (RFC 6750): `Authorization: Bearer <token>`. */
export function requires(scope: Scope): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const ports = c.get("ports");
    const { tokens, failedAttempts } = ports;
    if (tokens.length === 0)
      throw new Problem(
        403,
        "no token is configured: set the secret POLICY_TOKENS (npm run policy -- token makes one)",
      );
    const nowMs = Date.now();
    const address = ports.callerAddress(c.req.raw);
    const waitMs = address === undefined ? 0 : await failedAttempts.waitMs(address, nowMs);
    if (waitMs > 0) {
      const waitS = Math.ceil(waitMs / 1000);
      throw new Problem(429, `too many wrong tokens: try again in ${waitS} s`, {}, { "retry-after": String(waitS) });
    }
    const header = c.req.header("authorization");
    const presented = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(header ?? "")?.[1];
    if (presented === undefined) throw new Problem(401, "send a token: Authorization: Bearer <token>", {}, CHALLENGE);
    const token = await findToken(presented, tokens);
    if (token === undefined) {
      if (address !== undefined) await failedAttempts.add(address, nowMs);
      const headers = { "www-authenticate": `${CHALLENGE["www-authenticate"]}, error="invalid_token"` };
      throw new Problem(401, "this token is not known", {}, headers);
    }
    if (scope === "write" && token.scope !== "write") {
      const headers = { "www-authenticate": `${CHALLENGE["www-authenticate"]}, error="insufficient_scope"` };
      throw new Problem(403, `the token ${token.name} may read only`, {}, headers);
    }
    c.set("actor", token.name);
    return next();
  };
}
