import { z } from "@hono/zod-openapi";
import { unknownName } from "../core/parse.ts";

/** An object with exactly these fields. The fault of an unknown field names the field that was most likely meant. */
export function strict<T extends z.ZodRawShape>(shape: T): z.ZodObject<T, z.core.$strict> {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys" ? issue.keys.map((key) => unknownName(key, known)).join("\n") : undefined,
  });
}
