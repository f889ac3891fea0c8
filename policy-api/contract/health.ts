import { createRoute, z } from "@hono/zod-openapi";
import { versionNumber } from "./fields.ts";
import { open } from "./head.ts";
import { jsonOf } from "./replies.ts";
import { strict } from "./strict.ts";

const Health = strict({
  status: z.enum(["ok", "degraded"]),
  policy: z.enum(["ok", "unreadable", "unreachable"]),
  revision: versionNumber.nullable(),
  settings: z
    .array(strict({ name: z.string(), message: z.string() }))
    .openapi({ description: "Variables that could not be read" }),
}).openapi("Health");
export type Health = z.infer<typeof Health>;

export const getHealth = createRoute({
  ...open("get", "/health", "getHealth", "Whether it is well"),
  responses: { 200: jsonOf("It is", Health), 503: jsonOf("It is not: what it says is wrong", Health) },
});
