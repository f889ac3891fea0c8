import type { OpenAPIHono } from "@hono/zod-openapi";
import { getProbe, PROBE_MA_S } from "./contract/probe.ts";
import { type Advertise, altSvcValue } from "../decision/alt-svc.ts";
import type { ApiEnv } from "./env.ts";
import { guarded } from "./guarded.ts";

const ANSWERS = {
  offer: { kind: "h3", maS: PROBE_MA_S },
  nothing: { kind: "nothing" },
  clear: { kind: "clear" },
} as const satisfies Record<string, Advertise>;

export function addProbe(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(guarded(getProbe), async (c) => {
    const { answer, actuator } = c.req.valid("query");
    const { header, ...known } = await c.get("ports").probe(c.req.raw, actuator);
    const port = Number(new URL(c.req.url).port) || 443;
    const value = altSvcValue(ANSWERS[answer], port) ?? null;
    if (value !== null) c.header(header, value);
    return c.json({ program: "adaptive-h3" as const, header, value, ...known }, 200);
  });
}
