import { createRoute, z } from "@hono/zod-openapi";
import { strict, versionNumber } from "./fields.ts";
import { open } from "./head.ts";
import { jsonOf } from "./replies.ts";

const Health = strict({
  status: z.enum(["ok", "degraded"]),
  policy: z.enum(["ok", "unreadable", "unreachable"]),
  revision: versionNumber.nullable(),
  settings: z
    .array(strict({ name: z.string(), message: z.string() }))
    .openapi({ description: "Variables with values that the worker cannot read" }),
}).openapi("Health");
export type Health = z.infer<typeof Health>;

export const getHealth = createRoute({
  ...open("get", "/health", "getHealth", "Show whether all is well"),
  responses: { 200: jsonOf("All is well", Health), 503: jsonOf("Something is wrong, and the body says what", Health) },
});
