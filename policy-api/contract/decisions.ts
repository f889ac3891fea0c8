import { createRoute, z } from "@hono/zod-openapi";
import { REASONS } from "../core/decide.ts";
import { BASES } from "../core/path.ts";
import { MODES } from "../core/policy.ts";
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
import { reads } from "./head.ts";
import { bodyOf, jsonOf, problems } from "./replies.ts";

const packets = z
  .number()
  .min(0)
  .max(1e15)
  .openapi({ description: "Packets sent, the evidence for lossRatio", example: 1000 });
/** A time, or how long ago it was, in milliseconds. */
const ms = z.number().min(0).max(1e15);

export const Facts = strict({
  transport,
  rttMs: rttMs.optional(),
  deliveryRateBps: deliveryRateBps.optional(),
  lossRatio: lossRatio.optional(),
  packets: packets.optional().openapi({ description: "Evidence for lossRatio; 1,000 unless you set it" }),
  path: path.default("/"),
  asn: asn.optional(),
  country: country.optional(),
  clientAddress: address
    .optional()
    .openapi({ description: "Puts the client into the same shares as the worker does. Hashed, and not looked up." }),
  offeredUntil: isoTime.optional().openapi({ description: "When the last offer to this client ends" }),
}).openapi("Facts");
export type Facts = z.infer<typeof Facts>;

const PathFacts = strict({ rttMs: z.number(), lossRatio: z.number(), deliveryRateBps: z.number() }).openapi("Path");

const predicted = strict({
  stayMs: z.number(),
  switchMs: z.number(),
  coldMs: z.number(),
  contentBytes: z.number(),
  clamped: z.boolean().openapi({ description: "Whether the path lies beyond what was measured" }),
}).openapi("PredictedTimes");

const explained = {
  mode: z.enum(MODES),
  reason: z.enum(REASONS),
  basis: z.enum(BASES).optional().openapi({ description: "Whose measurements the decision rests on" }),
  path: PathFacts.optional(),
  predicted: predicted.optional(),
  saving: z.number().optional().openapi({ description: "What HTTP/3 saves: stay / switch - 1" }),
  savingLow: z.number().optional(),
  savingHigh: z.number().optional(),
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

const TransportEstimate = strict({
  minRttMs: rttMs.optional(),
  lossRatio: lossRatio.optional(),
  packets: packets.default(1_000),
  deliveryRateBps: deliveryRateBps.optional(),
  ageMs: ms.default(0),
  changedMsAgo: ms.optional().openapi({ description: "Milliseconds since the path changed" }),
}).openapi("TransportEstimate");

export const PathEstimate = strict({ tcp: TransportEstimate.optional(), quic: TransportEstimate.optional() }).openapi(
  "PathEstimate",
);
export type PathEstimate = z.infer<typeof PathEstimate>;

export const Offers = strict({
  untilMs: ms,
  answeredAtMs: ms,
  offering: z.boolean(),
  takenAtMs: ms,
  ignoredAtMs: z.array(ms),
}).openapi("Offers");

const RequestFacts = strict({
  transport,
  rttMs: rttMs.optional(),
  deliveryRateBps: deliveryRateBps.optional(),
  path: path.default("/"),
  asn: asn.optional(),
  country: country.optional(),
  offerUntilMs: ms.optional(),
  earlierOffersUntilMs: ms.optional(),
  offering: z.boolean().optional(),
  pausedUntilMs: ms.optional(),
  shareUnit: share.optional(),
  modesElsewhere: z.array(z.enum(MODES)).max(100).optional(),
}).openapi("RequestFacts");

const History = strict({
  state: z.enum(["known", "unknown", "late"]),
  client: PathEstimate.optional(),
  network: PathEstimate.optional(),
  asn: PathEstimate.optional(),
}).openapi("History");

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
}).openapi("Explanation");
export type Explanation = z.infer<typeof Explanation>;

export const decide = createRoute({
  ...reads("post", "/decisions", "decide", "Decide what to advertise, for callers other than this worker"),
  description:
    "Takes facts about 1 to 100 paths. Returns for each the header's value, how long it lives, the reason and the predicted " +
    "times. A path with a loss ratio is known; otherwise the policy's cold start answers. Nothing is looked up or stored.",
  request: { body: bodyOf(Questions) },
  responses: { 200: jsonOf("The answers, in the order of the paths", Answers), ...problems(413) },
});

export const explain = createRoute({
  ...reads("post", "/decisions/explain", "explain", "Explain a decision: on given facts, or for a client by address"),
  request: { body: bodyOf(Question) },
  responses: { 200: jsonOf("The decision, and the facts that it rests on", Explanation), ...problems(413, 422) },
});
