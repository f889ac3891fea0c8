import type { OpenAPIHono } from "@hono/zod-openapi";
import { getHealth } from "../contract/health.ts";
import type { Activation } from "../core/activation.ts";
import type { ApiEnv } from "./env.ts";
import type { PolicyApiPorts } from "./ports.ts";

export function addHealth(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(getHealth, async (c) => {
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

/** Whether every policy in force can be read. The clients of a stage whose policy cannot be read get no offers. */
async function isReadable(activation: Activation | undefined, ports: PolicyApiPorts): Promise<boolean> {
  if (activation === undefined) return false;
  const inForce = await ports.inForce();
  return inForce !== undefined && [inForce.everyone, ...inForce.stages].every(({ policy }) => policy !== undefined);
}
