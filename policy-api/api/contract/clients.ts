import { createRoute, z } from "@hono/zod-openapi";
import { known as levels, Offers } from "./decisions.ts";
import { address, strict } from "./fields.ts";
import { reads, writes } from "./head.ts";
import { bodyOf, jsonOf, problems } from "./replies.ts";

const request = { body: bodyOf(strict({ address }).openapi("Address")) };
const known = z.boolean().openapi({ description: "Whether the store holds anything about it" });

const ClientRecord = strict({
  known,
  ...levels,
  offers: Offers.optional(),
}).openapi("ClientRecord");
export type ClientRecord = z.infer<typeof ClientRecord>;
const NetworkRecord = strict({ known, network: levels.network }).openapi("NetworkRecord");
const Forgotten = strict({ forgotten: z.int().min(0).openapi({ description: "Number of rows" }) }).openapi("Forgotten");

const forgotten = { 200: jsonOf("Deleted", Forgotten), ...problems(413) };

export const lookUpClient = createRoute({
  ...reads("post", "/clients/look-up", "lookUpClient", "Show what is known about a client and its network"),
  request,
  responses: { 200: jsonOf("As a decision would use it now", ClientRecord), ...problems(413) },
});

export const lookUpNetwork = createRoute({
  ...reads("post", "/networks/look-up", "lookUpNetwork", "Show what is known about an address's network (/24 or /48)"),
  request,
  responses: { 200: jsonOf("As a decision would use it now", NetworkRecord), ...problems(413) },
});

export const forgetClient = createRoute({
  ...writes("post", "/clients/forget", "forgetClient", "Delete what is known about a client"),
  description: "Samples on their way to the store are deleted too. The audit records the call, but not the client.",
  request,
  responses: forgotten,
});

export const forgetNetwork = createRoute({
  ...writes("post", "/networks/forget", "forgetNetwork", "Delete what is known about a whole network"),
  request,
  responses: forgotten,
});
