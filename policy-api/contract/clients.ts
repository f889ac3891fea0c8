import { createRoute, z } from "@hono/zod-openapi";
import { Offers, PathEstimate } from "./decisions.ts";
import { address } from "./fields.ts";
import { reads, writes } from "./head.ts";
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

const found = <R extends z.ZodType>(Record: R) => ({
  200: jsonOf("As it would be used now", Record),
  ...problems(413),
});
const forgotten = { 200: jsonOf("It is deleted", Forgotten), ...problems(413) };

export const lookUpClient = createRoute({
  ...reads("post", "/clients/look-up", "lookUpClient", "What is known of a client and of its network"),
  request,
  responses: found(ClientRecord),
});

export const lookUpNetwork = createRoute({
  ...reads("post", "/networks/look-up", "lookUpNetwork", "What is known of an address's network: its /24 or /48"),
  request,
  responses: found(NetworkRecord),
});

export const forgetClient = createRoute({
  ...writes("post", "/clients/forget", "forgetClient", "Delete what is known of a client"),
  description: "Also what is still on its way to the store. The audit says that it was done, and not to whom.",
  request,
  responses: forgotten,
});

export const forgetNetwork = createRoute({
  ...writes("post", "/networks/forget", "forgetNetwork", "Delete what is known of a network as a whole"),
  request,
  responses: forgotten,
});
