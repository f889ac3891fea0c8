import { createRoute, type OpenAPIHono } from "@hono/zod-openapi";
import { answer } from "./answer.ts";
import type { ApiEnv } from "./api.ts";
import { Answers, Explanation, Question, Questions } from "./decision-schemas.ts";
import { explain } from "./explain.ts";
import { Problem } from "./problem.ts";
import { guarded, jsonOf, problems } from "./routes.ts";

const tags = ["decisions"];

const decideRoute = createRoute({
  operationId: "decide",
  method: "post",
  path: "/decisions",
  tags,
  summary: "What to advertise, for callers that are not this worker",
  description:
    "Facts of one path or of up to a hundred in; for each the header's value, its life, the reason and the predicted times " +
    "out. With loss a path is known; with RTT alone the policy's cold start answers. Nothing is looked up or remembered.",
  ...guarded("read", "body"),
  request: { body: { ...jsonOf("", Questions), required: true } },
  responses: { 200: jsonOf("In the order of the paths", Answers), ...problems(413) },
});

const explainRoute = createRoute({
  operationId: "explain",
  method: "post",
  path: "/decisions/explain",
  tags,
  summary: "Why it decides so: on given facts, or for a client by address",
  ...guarded("read", "body"),
  request: { body: { ...jsonOf("", Question), required: true } },
  responses: { 200: jsonOf("The decision, and the facts that it was made on", Explanation), ...problems(413, 422) },
});

export function addDecisions(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(decideRoute, async (c) => {
    const { paths, port } = c.req.valid("json");
    const ports = c.get("ports");
    const nowMs = Date.now();
    const inForce = await ports.inForce();
    if (inForce === undefined) throw new Problem(503, "there is no policy that can be read");
    const decisions = await Promise.all(
      paths.map(async (facts) => {
        const units =
          facts.clientAddress === undefined ? undefined : await ports.clients.units(facts.clientAddress, nowMs);
        const answered = answer(inForce, facts, units, nowMs, port);
        if (answered === undefined) throw new Problem(503, "the policy for this path cannot be read");
        return answered;
      }),
    );
    return c.json({ revision: inForce.revision, decisions }, 200);
  });

  api.openapi(explainRoute, async (c) => {
    const port = Number(new URL(c.req.url).port) || 443;
    return c.json(await explain(c.req.valid("json"), c.get("ports"), Date.now(), port), 200);
  });
}
