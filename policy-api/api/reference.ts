import type { OpenAPIHono } from "@hono/zod-openapi";
import type { ApiEnv } from "./env.ts";
import { referencePage } from "./reference-page.ts";

/** The API's description of itself, for programs and for people. It needs no token. */
export function addReference(api: OpenAPIHono<ApiEnv>): void {
  api.openAPIRegistry.registerComponent("securitySchemes", "token", {
    type: "http",
    scheme: "bearer",
    description:
      "One of the tokens in the secret POLICY_TOKENS. A call that changes something needs a token that may write.",
  });
  let document: ReturnType<typeof api.getOpenAPI31Document> | undefined;
  const describe = (): NonNullable<typeof document> =>
    (document ??= api.getOpenAPI31Document({
      openapi: "3.1.0",
      info: {
        title: "adaptive-h3 policy API",
        version: "1",
        description: "Changes the policy of a running worker, explains its decisions, and decides for other callers.",
        license: { name: "MIT", url: "https://spdx.org/licenses/MIT.html" },
      },
      tags: [
        "policies",
        "activation",
        "decisions",
        "results",
        "stats",
        "metrics",
        "probe",
        "clients",
        "networks",
        "audit",
        "health",
      ].map((name) => ({ name })),
    }));
  api.get("/openapi.json", (c) => c.json(describe()));
  api.get("/reference", (c) => {
    // The page loads nothing and runs nothing; it holds its own style.
    c.header("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
    return c.html(referencePage(describe()));
  });
}
