import { createRoute, z } from "@hono/zod-openapi";
import { ACTUATORS } from "../../decision/alt-svc.ts";
import { strict } from "./fields.ts";
import { reads } from "./head.ts";
import { jsonOf, problems } from "./replies.ts";

/** How long an offer lives that is only asked for to see what becomes of it, seconds. */
export const PROBE_MA_S = 60;

const milliseconds = z.number().min(0).openapi({ description: "Milliseconds" });

export const Probe = strict({
  program: z.literal("adaptive-h3"),
  actuator: z.enum(ACTUATORS).openapi({ description: "How this deployment's answers reach browsers" }),
  header: z.string().openapi({ description: "The header of this response that the worker put the answer into" }),
  value: z.string().nullable().openapi({ description: "What it put there; null: nothing" }),
  edge: z.enum(["cloudflare", "adaptive-h3", "none"]).openapi({ description: "Who the worker takes for its TLS edge" }),
  httpProtocol: z.string().nullable(),
  cf: z.array(z.string()).openapi({ description: "Fields of `request.cf` with a value that the worker can use" }),
  policyMs: milliseconds.nullable().openapi({
    description: "To fetch the policy, milliseconds. A page waits for that in a new isolate alone. Null: no answer",
  }),
  lookUpMs: milliseconds.nullable().openapi({
    description: "To look a client up, milliseconds, beside the origin's own time. Null: no answer",
  }),
  budgetMs: milliseconds.openapi({ description: "How long a page waits for a decision after the origin's headers" }),
  assets: strict({ origin: z.string(), paths: z.array(z.string()) })
    .nullable()
    .optional()
    .openapi({
      description: "The host at which pages name their files (ASSETS). Null: none. A worker before 0.1 does not say",
    }),
}).openapi("Probe");
export type Probe = z.infer<typeof Probe>;

export const getProbe = createRoute({
  ...reads("get", "/probe", "getProbe", "Answer as a page would, to see what of it arrives"),
  description:
    `The response has the header that a page has to which HTTP/3 is offered (for ${PROBE_MA_S} s), from which an offer is taken back ` +
    "(`clear`), or to which nothing is said. Compare it with `value`: what is between the worker and the caller may change it.",
  request: {
    query: strict({
      answer: z.enum(["offer", "nothing", "clear"]),
      actuator: z.enum(ACTUATORS).optional().openapi({ description: "Another way than this deployment's own" }),
    }),
  },
  responses: {
    200: jsonOf("What the worker did, and what it knows of this request's connection", Probe),
    ...problems(),
  },
});
