import { createRoute, z } from "@hono/zod-openapi";
import { KILL_SWITCHES } from "../../decision/activation.ts";
import { strict, versionNumber } from "./fields.ts";
import { open } from "./head.ts";
import { jsonOf } from "./replies.ts";

const Health = strict({
  status: z.enum(["ok", "degraded"]),
  problems: z.array(z.string()).openapi({ description: "A sentence for each part that is not well" }),
  policy: z.enum(["ok", "unreadable", "unreachable"]),
  store: z
    .enum(["ok", "unwritable", "replaced", "unreachable"])
    .openapi({ description: "A write was tried at most 10 s ago. replaced: it is not the store that was here before" }),
  revision: versionNumber.nullable(),
  killSwitch: strict({
    kind: z.enum(KILL_SWITCHES),
    stored: z.boolean().openapi({ description: "false: it is in force in memory, as the store could not take it" }),
  }).nullable(),
  http3: z
    .enum(["ok", "down", "off", "unknown"])
    .openapi({ description: "What this project's TLS edge says about its HTTP/3; unknown without such an edge" }),
  settings: z
    .array(strict({ name: z.string(), message: z.string() }))
    .openapi({ description: "Variables with values that the worker cannot read" }),
}).openapi("Health");
export type Health = z.infer<typeof Health>;

export const getHealth = createRoute({
  ...open("get", "/health", "getHealth", "Show whether all is well"),
  responses: { 200: jsonOf("All is well", Health), 503: jsonOf("Something is wrong, and the body says what", Health) },
});
