import { createRoute, z } from "@hono/zod-openapi";
import { reads, writes } from "./access.ts";
import { Offers, PathEstimate } from "./decisions.ts";
import { address } from "./fields.ts";
import { bodyOf, jsonOf, problems } from "./replies.ts";
import { strict } from "./strict.ts";

const request = { body: bodyOf(strict({ address }).openapi("Address")) };
const known = z.boolean().openapi({ description: "Whether anything is remembered" });

const ClientRecord = strict({
  known,
  client: PathEstimate.optional(),
  network: PathEstimate.optional(),
  asn: PathEstimate.optional(),
  offers: Offers.optional(),
}).openapi("ClientRecord");
export type ClientRecord = z.infer<typeof ClientRecord>;
const NetworkRecord = strict({ known, network: PathEstimate.optional() }).openapi("NetworkRecord");
const Forgotten = strict({ forgotten: z.int().min(0).openapi({ description: "Rows" }) }).openapi("Forgotten");

export const lookUpClient = createRoute({
  operationId: "lookUpClient",
  method: "post",
  path: "/clients/look-up",
  tags: ["clients"],
  summary: "What is known of a client and of its network",
  ...reads,
  request,
  responses: { 200: jsonOf("As it would be used now", ClientRecord), ...problems(413) },
});

export const lookUpNetwork = createRoute({
  operationId: "lookUpNetwork",
  method: "post",
  path: "/networks/look-up",
  tags: ["networks"],
  summary: "What is known of an address's network: its /24 or /48",
  ...reads,
  request,
  responses: { 200: jsonOf("As it would be used now", NetworkRecord), ...problems(413) },
});

export const forgetClient = createRoute({
  operationId: "forgetClient",
  method: "post",
  path: "/clients/forget",
  tags: ["clients"],
  summary: "Delete what is known of a client",
  description: "Also what is still on its way to the store. The audit says that it was done, and not to whom.",
  ...writes,
  request,
  responses: { 200: jsonOf("It is deleted", Forgotten), ...problems(413) },
});

export const forgetNetwork = createRoute({
  operationId: "forgetNetwork",
  method: "post",
  path: "/networks/forget",
  tags: ["networks"],
  summary: "Delete what is known of a network as a whole",
  ...writes,
  request,
  responses: { 200: jsonOf("It is deleted", Forgotten), ...problems(413) },
});
