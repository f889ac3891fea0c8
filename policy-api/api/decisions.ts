import type { OpenAPIHono } from "@hono/zod-openapi";
import * as contract from "./contract/decisions.ts";
import { answer } from "./answer.ts";
import type { ApiEnv } from "./env.ts";
import { explain } from "./explain.ts";
import { guarded } from "./guarded.ts";
import { Problem } from "./problem.ts";

export function addDecisions(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(guarded(contract.decide), async (c) => {
    const { paths, port } = c.req.valid("json");
    const ports = c.get("ports");
    const nowMs = Date.now();
    const inForce = await ports.inForce();
    if (inForce === undefined) throw new Problem(503, "there is no policy that can be read");
    const decisions = await Promise.all(
      paths.map(async (facts) => {
        const units =
          facts.clientAddress === undefined ? undefined : await ports.clients.units(facts.clientAddress, nowMs);
        return answer(inForce, facts, units, nowMs, port);
      }),
    );
    return c.json({ revision: inForce.revision, decisions }, 200);
  });

  api.openapi(guarded(contract.explain), async (c) => {
    const port = Number(new URL(c.req.url).port) || 443;
    return c.json(await explain(c.req.valid("json"), c.get("ports"), Date.now(), port), 200);
  });
}
