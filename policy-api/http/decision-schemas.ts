import { z } from "@hono/zod-openapi";
import { REASONS } from "../core/decide.ts";
import { BASES } from "../core/path.ts";
import { MODES } from "../core/policy.ts";
import { asn, country, deliveryRateBps, isoTime, lossRatio, path, port, rttMs, share, transport } from "./schemas.ts";
import { strict } from "./zod-faults.ts";
import * as schemas from "./schemas.ts";

const packets = z.number().min(0).max(1e15).openapi({ description: "Sent, behind lossRatio", example: 1000 });
/** Milliseconds, of a time or since one. */
const ms = z.number().min(0).max(1e15);

export const Facts = strict({
  transport,
  rttMs: rttMs.optional(),
  deliveryRateBps: deliveryRateBps.optional(),
  lossRatio: lossRatio.optional(),
  packets: packets.optional().openapi({ description: "Evidence behind lossRatio; 1,000 unless given" }),
  path: path.default("/"),
  asn: asn.optional(),
  country: country.optional(),
  clientAddress: schemas.address
    .optional()
    .openapi({ description: "So that shares hold the same clients as at the edge. Hashed; nothing is looked up." }),
  offeredUntil: isoTime.optional().openapi({ description: "The end of the last offer that this client was given" }),
}).openapi("Facts");

export const PathFacts = strict({ rttMs: z.number(), lossRatio: z.number(), deliveryRateBps: z.number() }).openapi(
  "Path",
);

const predicted = strict({
  stayMs: z.number(),
  switchMs: z.number(),
  coldMs: z.number(),
  contentBytes: z.number(),
  clamped: z.boolean().openapi({ description: "Beyond what was measured" }),
}).openapi("PredictedTimes");

const explained = {
  mode: z.enum(MODES),
  reason: z.enum(REASONS),
  basis: z.enum(BASES).optional().openapi({ description: "Whose evidence it rests on" }),
  path: PathFacts.optional(),
  predicted: predicted.optional(),
  saving: z.number().optional().openapi({ description: "Of HTTP/3: stay / switch - 1" }),
  savingLow: z.number().optional(),
  savingHigh: z.number().optional(),
  propensity: z.number().min(0).max(1).openapi({ description: "With what probability it would have been so" }),
};

const altSvc = z
  .string()
  .nullable()
  .openapi({ description: "The value of the Alt-Svc header; null: send none", example: 'h3=":443"; ma=300' });

export const Answer = strict({
  altSvc,
  maS: z.int().nullable().openapi({ description: "How long the offer lives, seconds; null without one" }),
  policyVersion: schemas.versionNumber,
  ...explained,
}).openapi("Answer");

export const Decision = strict({
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
  changedMsAgo: ms.optional().openapi({ description: "Since the path was seen to change" }),
}).openapi("TransportEstimate");

export const PathEstimate = strict({ tcp: TransportEstimate.optional(), quic: TransportEstimate.optional() }).openapi(
  "PathEstimate",
);

export const Offers = strict({
  untilMs: ms,
  answeredAtMs: ms,
  offering: z.boolean(),
  takenAtMs: ms,
  ignoredAtMs: z.array(ms),
}).openapi("Offers");

export const RequestFacts = strict({
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

export const History = strict({
  state: z.enum(["known", "unknown", "late"]),
  client: PathEstimate.optional(),
  network: PathEstimate.optional(),
  asn: PathEstimate.optional(),
}).openapi("History");

export const Questions = strict({ paths: z.array(Facts).min(1).max(100), port: port.default(443) }).openapi(
  "DecisionRequest",
);

export const Answers = strict({ revision: schemas.versionNumber, decisions: z.array(Answer) }).openapi("Decisions");

export const Question = strict({
  request: RequestFacts.optional().openapi({ description: "Needed without a client" }),
  history: History.optional(),
  client: schemas.address.optional(),
  policy: schemas.policy.optional(),
  version: schemas.versionNumber.optional(),
  nowMs: ms.optional(),
  explorationUnit: share.optional(),
  activationUnit: share.optional(),
  port: port.optional(),
}).openapi("ExplainRequest", {
  // What explain() refuses with 422.
  anyOf: [{ required: ["request"] }, { required: ["client"] }],
  not: { anyOf: [{ required: ["policy", "version"] }, { required: ["client", "history"] }] },
});

export const Explanation = strict({
  revision: schemas.versionNumber.nullable().openapi({ description: "Null where the question brought the policy" }),
  policyVersion: schemas.versionNumber.nullable(),
  request: RequestFacts,
  history: History,
  decision: Decision,
  altSvc,
}).openapi("Explanation");
