import { createRoute, z } from "@hono/zod-openapi";
import { REASONS } from "../../decision/decide.ts";
import { CONNECTIONS } from "../../decision/connections.ts";
import { MODES } from "../../decision/policy.ts";
import {
  address,
  asn,
  country,
  deliveryRateBps,
  isoTime,
  lossRatio,
  path,
  policy,
  port,
  rttMs,
  share,
  strict,
  transport,
  versionNumber,
} from "./fields.ts";
import { bodyOf, jsonOf, problems, reads, writes } from "./routes.ts";

const packets = z.number().min(0).max(1e15).openapi({ description: "Packets sent", example: 1000 });
/** A time, or how long ago it was, in milliseconds. */
const ms = z.number().min(0).max(1e15);

const pathAndPage = {
  transport,
  rttMs: rttMs.optional(),
  deliveryRateBps: deliveryRateBps.optional(),
  path: path.default("/"),
  asn: asn.optional(),
  country: country.optional(),
};

export const Facts = strict({
  ...pathAndPage,
  lossRatio: lossRatio.optional(),
  packets: packets.optional().openapi({ description: "Evidence for lossRatio; 1,000 unless you set it" }),
  clientAddress: address
    .optional()
    .openapi({ description: "Puts the client into the same shares as the worker does. Hashed, and not looked up." }),
  offeredUntil: isoTime.optional().openapi({ description: "When the last offer to this client ends" }),
}).openapi("Facts");
export type Facts = z.infer<typeof Facts>;

const expected = (about: string) =>
  strict({ gain: z.number(), deviation: z.number() }).openapi({
    description: `${about}: ln(HTTP/2's time / HTTP/3's), and its deviation over what is not known`,
  });
const explained = {
  mode: z.enum(MODES),
  reason: z.enum(REASONS),
  rttMs: z.number().optional().openapi({ description: "What the gain table was read at" }),
  contentBytes: z.number().optional().openapi({ description: "Likewise" }),
  lossRatio: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .openapi({ description: "Of the client's own packets, if enough were counted" }),
  quicAlone: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .openapi({ description: "The probability that the network drops QUIC's packets alone" }),
  next: expected("The gain of a next page").optional(),
  return: expected("The gain of a return's first page").optional(),
  price: z.number().optional().openapi({ description: "What the page at hand loses" }),
  ceiling: z.number().optional().openapi({ description: "What both gains lose as HTTP/3 carries at most so much" }),
  ownShift: z.number().optional().openapi({ description: "What the client's own loads add to both gains" }),
  pages: z.number().optional().openapi({ description: "How many next pages the offer changes" }),
  returns: z.number().optional().openapi({ description: "How many returns it changes" }),
  saving: expected("What the offer is worth for each page that it changes").optional(),
  propensity: z.number().min(0).max(1).openapi({ description: "The probability of this answer" }),
};

const altSvc = z
  .string()
  .nullable()
  .openapi({ description: "The value of the Alt-Svc header; null: send no header", example: 'h3=":443"; ma=300' });

export const Answer = strict({
  altSvc,
  maS: z.int().nullable().openapi({ description: "How long the offer lives, seconds; null without an offer" }),
  policyVersion: versionNumber,
  ...explained,
}).openapi("Answer");
export type Answer = z.infer<typeof Answer>;

const Decision = strict({
  advertise: z.union([
    strict({ kind: z.literal("h3"), maS: z.int() }),
    strict({ kind: z.literal("nothing") }),
    strict({ kind: z.literal("clear") }),
  ]),
  ...explained,
}).openapi("Decision");

const ConnectionSeen = strict({
  transport,
  ageMs: ms.default(0).openapi({ description: "Milliseconds since its newest sample" }),
  packets: packets.default(0),
  lost: packets.default(0).openapi({ description: "Packets declared lost" }),
  rttMs: rttMs.optional(),
  bytes: packets.optional().openapi({ description: "Bytes sent" }),
  busyMs: ms.optional().openapi({ description: "How long responses were under way" }),
  deliveryRateBps: deliveryRateBps.optional(),
}).openapi("ConnectionSeen");

/** What is known of a client. */
export const known = {
  connections: z
    .array(ConnectionSeen)
    .max(2 * CONNECTIONS)
    .readonly()
    .optional(),
};

const OriginOffers = strict({
  origin: z.string().openapi({ description: "A keyed hash of host and port", example: "q83vEjRW" }),
  untilMs: ms,
  answeredAtMs: ms,
  offering: z.boolean(),
}).openapi("OriginOffers");

const Offers = strict({
  origins: z
    .array(OriginOffers)
    .readonly()
    .openapi({ description: "Alt-Svc speaks for one origin; the last answered first" }),
  takenAtMs: ms,
  ignoredAtMs: z.array(ms).readonly(),
}).openapi("Offers");

const RequestFacts = strict({
  ...pathAndPage,
  minRttMs: rttMs.optional().openapi({ description: "By which other connections count; without it rttMs" }),
  offerUntilMs: ms.optional(),
  earlierOffersUntilMs: ms.optional(),
  offering: z.boolean().optional(),
  answeredAtMs: ms.optional(),
  pausedUntilMs: ms.optional(),
  shareUnit: share.optional(),
  modesElsewhere: z.array(z.enum(MODES)).max(100).readonly().optional(),
}).openapi("RequestFacts");

const History = strict({
  state: z.enum(["known", "unknown", "late"]),
  ...known,
}).openapi("History");
export type History = z.infer<typeof History>;

const Questions = strict({ paths: z.array(Facts).min(1).max(100), port: port.default(443) }).openapi("DecisionRequest");

const Answers = strict({ revision: versionNumber, decisions: z.array(Answer) }).openapi("Decisions");

export const Question = strict({
  request: RequestFacts.optional().openapi({ description: "Required unless there is a client" }),
  history: History.optional(),
  client: address.optional(),
  policy: policy.optional(),
  version: versionNumber.optional(),
  nowMs: ms.optional(),
  explorationUnit: share.optional(),
  activationUnit: share.optional(),
  port: port.optional(),
}).openapi("ExplainRequest", {
  // The server refuses the rest with 422.
  anyOf: [{ required: ["request"] }, { required: ["client"] }],
  not: { anyOf: [{ required: ["policy", "version"] }, { required: ["client", "history"] }] },
});
export type Question = z.infer<typeof Question>;
/** A question as a caller sends it. */
export type NewQuestion = z.input<typeof Question>;

export const Explanation = strict({
  revision: versionNumber.nullable().openapi({ description: "Null if the question names a version or holds a policy" }),
  policyVersion: versionNumber.nullable(),
  request: RequestFacts,
  history: History,
  decision: Decision,
  altSvc,
  undrawn: strict({ reason: z.enum(REASONS), altSvc })
    .optional()
    .openapi({
      description: "What the policy would answer a client that does not draw. Only where the answer was drawn",
    }),
}).openapi("Explanation");
export type Explanation = z.infer<typeof Explanation>;

export const decide = createRoute({
  ...reads("post", "/decisions", "decide", "Decide what to advertise, for callers other than this worker"),
  description:
    "Takes facts about 1 to 100 paths. Returns for each the header's value, how long it lives, the reason and the expected " +
    "gains. Without a loss ratio the policy's mix stands for it. Nothing is looked up or stored.",
  request: { body: bodyOf(Questions) },
  responses: { 200: jsonOf("The answers, in the order of the paths", Answers), ...problems(413) },
});

export const explain = createRoute({
  ...reads("post", "/decisions/explain", "explain", "Explain a decision: on given facts, or for a client by address"),
  request: { body: bodyOf(Question) },
  responses: { 200: jsonOf("The decision, and the facts that it rests on", Explanation), ...problems(413, 422) },
});

const request = { body: bodyOf(strict({ address }).openapi("Address")) };
const isKnown = z.boolean().openapi({ description: "Whether the store holds anything about it" });

const ClientRecord = strict({
  known: isKnown,
  ...known,
  offers: Offers.optional(),
}).openapi("ClientRecord");
export type ClientRecord = z.infer<typeof ClientRecord>;
const Forgotten = strict({ forgotten: z.int().min(0).openapi({ description: "Number of rows" }) }).openapi("Forgotten");

const forgotten = { 200: jsonOf("Deleted", Forgotten), ...problems(413) };

export const lookUpClient = createRoute({
  ...reads("post", "/clients/look-up", "lookUpClient", "Show what is known about a client"),
  request,
  responses: { 200: jsonOf("As a decision would use it now", ClientRecord), ...problems(413) },
});

export const forgetClient = createRoute({
  ...writes("post", "/clients/forget", "forgetClient", "Delete what is known about a client"),
  description: "Samples on their way to the store are deleted too. The audit records the call, but not the client.",
  request,
  responses: forgotten,
});
