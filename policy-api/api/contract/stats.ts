import { createRoute, z } from "@hono/zod-openapi";
import { HOURS_KEPT } from "../counters/counted.ts";
import { FAMILIES, type Family } from "../counters/families.ts";
import { isoTime, strict, wholeText } from "./fields.ts";
import { reads } from "./head.ts";
import { jsonOf, problems } from "./replies.ts";

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
