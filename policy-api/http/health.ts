import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Activation } from "../core/activation.ts";
import type { ApiEnv } from "./api.ts";
import type { PolicyApiPorts } from "./ports.ts";
import { jsonOf } from "./routes.ts";
import { strict } from "./zod-faults.ts";
import * as schemas from "./schemas.ts";

const Health = strict({
  status: z.enum(["ok", "degraded"]),
  policy: z.enum(["ok", "unreadable", "unreachable"]),
  revision: schemas.versionNumber.nullable(),
  settings: z
    .array(strict({ name: z.string(), message: z.string() }))
    .openapi({ description: "Variables that could not be read" }),
}).openapi("Health");

const health = createRoute({
  operationId: "getHealth",
  method: "get",
  path: "/health",
  tags: ["health"],
  summary: "Whether it is well",
  responses: { 200: jsonOf("It is", Health), 503: jsonOf("It is not: what it says is wrong", Health) },
});

export function addHealth(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(health, async (c) => {
    const ports = c.get("ports");
    const { settingsFaults } = ports;
    const activation = await ports.checkActivation();
    const policy = activation === null ? "unreachable" : (await isReadable(activation, ports)) ? "ok" : "unreadable";
    const healthy = policy === "ok" && settingsFaults.length === 0;
    return c.json(
      {
        status: healthy ? ("ok" as const) : ("degraded" as const),
        policy,
        revision: activation?.revision ?? null,
        settings: settingsFaults.map(({ name, message }) => ({ name, message })),
      },
      healthy ? 200 : 503,
    );
  });
}

/** Whether something is said to all for whom something is in force: a stage whose policy cannot be read is silent. */
async function isReadable(activation: Activation | undefined, ports: PolicyApiPorts): Promise<boolean> {
  if (activation === undefined) return false;
  const inForce = await ports.inForce();
  return inForce !== undefined && [inForce.everyone, ...inForce.stages].every(({ policy }) => policy !== undefined);
}
