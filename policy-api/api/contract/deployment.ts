import { createRoute, z } from "@hono/zod-openapi";
import { KILL_SWITCHES } from "../../decision/activation.ts";
import { isoTime, strict, versionNumber, wholeText } from "./fields.ts";
import { jsonOf, open, problems, reads } from "./routes.ts";
import { ACTUATORS } from "../../decision/alt-svc.ts";
import { HOURS_KEPT } from "../counters/counted.ts";
import { FAMILIES, type Family } from "../counters/families.ts";

const wholeBytes = z.int().min(0).openapi({ description: "Bytes" });

const Health = strict({
  status: z.enum(["ok", "degraded"]),
  problems: z.array(z.string()).openapi({ description: "A sentence for each part that is not well" }),
  warnings: z.array(z.string()).openapi({
    description: "A sentence for each policy in force that was made for another stack. All is well beside",
  }),
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
  udpBuffers: strict({ receiveBytes: wholeBytes, sendBytes: wholeBytes, wantedBytes: wholeBytes }).nullable().openapi({
    description:
      "The buffers of this project's TLS edge for HTTP/3, as the kernel has them, and what QUIC wants of each; null without such an edge",
  }),
  stack: strict({
    tcp: z.string().openapi({ description: "TCP's congestion control" }),
    quic: z.string().nullable().openapi({ description: "The QUIC sender; null: HTTP/3 is off" }),
  })
    .nullable()
    .openapi({
      description: "Who sends, as this project's TLS edge says it with this request; null without such an edge",
    }),
}).openapi("Health");
export type Health = z.infer<typeof Health>;

export const getHealth = createRoute({
  ...open("get", "/health", "getHealth", "Show whether all is well"),
  responses: { 200: jsonOf("All is well", Health), 503: jsonOf("Something is wrong, and the body says what", Health) },
});

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
    .openapi({ description: "The host at which pages name their files (ASSETS). Null: none" }),
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

const families = Object.keys(FAMILIES) as [Family, ...Family[]];

const Count = strict({
  counter: z.enum(families),
  labels: z.record(z.string(), z.string()),
  count: z.int().min(1),
}).openapi("Count", { description: "How often something happened. /metrics says what each counter counts" });
export type Count = z.infer<typeof Count>;

const Stats = strict({
  since: z
    .union([isoTime, z.null()])
    .openapi({ description: "The hour of the first count; null: nothing was counted" }),
  objects: strict({ asked: z.int().min(0), answered: z.int().min(0) }).openapi({
    description: "Of the store, one a region. What those counted that did not answer is missing",
  }),
  totals: z.array(Count).openapi({ description: "Since then" }),
  hours: z
    .array(strict({ at: isoTime, counts: z.array(Count) }).openapi("HourOfCounts"))
    .openapi({ description: "The last hours, oldest first, without those in which nothing was counted" }),
}).openapi("Stats");
export type Stats = z.infer<typeof Stats>;

export const getStats = createRoute({
  ...reads("get", "/stats", "getStats", "Show what was decided, asked and reported, how often"),
  request: {
    query: strict({
      hours: wholeText(1, HOURS_KEPT)
        .default(24)
        .openapi({ default: 24, description: "So many hours one by one, with the one that is not over" }),
    }),
  },
  responses: { 200: jsonOf("What was counted", Stats), ...problems() },
});

const Extent = strict({
  objects: strict({ asked: z.int().min(0), answered: z.int().min(0), holding: z.int().min(0) }).openapi({
    description: "Of the store. holding: so many of those that answered have rows",
  }),
  rows: z.int().min(0).openapi({ description: "Of clients, networks, autonomous systems and the site" }),
  oldest: z
    .union([isoTime, z.null()])
    .openapi({ description: "When the row that was silent for longest was last heard of; null: there is none" }),
  bytes: z.int().min(0),
}).openapi("Extent");
export type Extent = z.infer<typeof Extent>;

export const getExtent = createRoute({
  ...reads("get", "/stats/store", "getExtent", "Show how much is kept of clients"),
  responses: { 200: jsonOf("How much is kept", Extent), ...problems() },
});

export const getMetrics = createRoute({
  ...reads("get", "/metrics", "getMetrics", "Show the same since the beginning, as Prometheus reads it"),
  responses: {
    200: {
      description: "Prometheus' text format, version 0.0.4",
      content: { "text/plain": { schema: z.string() } },
    },
    ...problems(),
  },
});
