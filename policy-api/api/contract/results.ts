import { createRoute, z } from "@hono/zod-openapi";
import { OBJECTIONS } from "../../visitors/compare.ts";
import { CELL_POSITIONS } from "../../visitors/row-keys.ts";
import {
  asn,
  country,
  isoTime,
  lossRatio,
  policy,
  rttMs,
  share,
  strict,
  versionInPath,
  versionNumber,
} from "./fields.ts";
import { fromProposal, fromResults, jsonOf, problems, reads } from "./routes.ts";

const amount = z.number().min(0);
const whole = z.int().min(0);
const ms = z.number().min(0).openapi({ example: 812 });
const nullable = <T extends z.ZodType>(schema: T) => z.union([schema, z.null()]);

const Estimate = strict({
  value: z.number(),
  se: z.number().openapi({ description: "Standard error at this look" }),
  low: z.number(),
  high: z.number(),
}).openapi("Estimate", { description: "A figure, and an interval of 95 % that holds however often one looks" });

const Objection = strict({ kind: z.enum(OBJECTIONS), text: z.string() }).openapi("Objection", {
  description: "Why no effect may be claimed, and the same as a sentence",
});

const Took = strict({
  clients: whole.openapi({ description: "Of which a page said it" }),
  meanMs: ms.openapi({ description: "Geometric mean. A page over 4 times what was expected counts as that" }),
  p75Ms: ms.openapi({ description: "Of each client's first two pages, right to 2 %" }),
  p99Ms: ms.openapi({ description: "Likewise" }),
}).openapi("Took");

const ArmFigures = strict({
  clients: whole.openapi({ description: "That were drawn into this arm. A client of two periods counts as two" }),
  pages: amount.openapi({ description: "Pages that were decided about, at most 50 of a client" }),
  counted: amount.openapi({ description: "Pages that count, at most two of a client" }),
  reported: amount.openapi({ description: "How many of these reported" }),
  overH3: nullable(share).openapi({ description: "The share of reported pages that came over HTTP/3" }),
  load: nullable(Took).openapi({ description: "Time until the load event; null if too few reported" }),
  lcp: nullable(Took).openapi({ description: "Largest Contentful Paint" }),
}).openapi("ArmFigures");

const Claim = strict({
  kind: z.enum(["faster", "slower", "none"]).openapi({ description: "What offering HTTP/3 makes pages" }),
  interval: nullable(strict({ low: z.number(), high: z.number() })).openapi({ description: "Of the gain" }),
  withstandsLies: z
    .boolean()
    .nullable()
    .openapi({ description: "Whether it could be claimed if 5 % of the clients lied as well as they can" }),
  objections: z.array(Objection).openapi({ description: "Why nothing is claimed" }),
}).openapi("Claim");

const Compared = strict({
  gain: nullable(Estimate).openapi({
    description: "ln(time of those not offered HTTP/3 / time of those offered it), of reported pages, whoever used it",
  }),
  saved: nullable(strict({ value: z.number(), low: z.number(), high: z.number() })).openapi({
    description: "The same as the share of time that is saved, widened if the arms report differently",
  }),
  ofChanged: nullable(Estimate).openapi({
    description: "ln(HTTP/2's time / HTTP/3's) of the pages whose protocol the offer changed",
  }),
  claim: Claim,
}).openapi("Compared");

const Slice = strict({
  offered: ArmFigures,
  withheld: ArmFigures,
  primary: nullable(Estimate).openapi({
    description: "The gain over all pages, in which one that did not report counts as the slowest that counts",
  }),
  load: Compared,
  lcp: Compared,
}).openapi("Slice");
export type Slice = z.infer<typeof Slice>;

const version = versionNumber.openapi({ description: "Whose clients these are" });
const objects = strict({ asked: whole, answered: whole }).openapi({
  description: "Of the store. The clients of objects that did not answer are missing",
});

const Since = strict({ since: isoTime, text: z.string() }).openapi("Since", {
  description: "Since when something is so, and the same as a sentence",
});

const Results = strict({
  version,
  objects,
  sentence: z.string().openapi({ description: "What can be said" }),
  harm: nullable(
    strict({ kind: z.enum(["slower", "fewer-reports"]), text: z.string() }).openapi("Harm", {
      description: "What speaks against the version, where it offers HTTP/3 to new clients, and the same as a sentence",
    }),
  ),
  harmComparable: z.boolean().openapi({
    description:
      "Whether harm could show: clients can be compared where the version offers HTTP/3, or it offers it to no new client. If " +
      "false, it means nothing that `harm` is null",
  }),
  change: nullable(Since).openapi({
    description: "HTTP/3's effect on pages is another one. All figures are then of both times together",
  }),
  unused: nullable(Since).openapi({
    description: "Offers are not followed any more. HTTP/3 may have stopped working",
  }),
  everyone: Slice.openapi({ description: "Its claim is the one that is made. Each other one holds by itself" }),
  staying: nullable(Estimate).openapi({
    description: "ln(pages of a client that was offered HTTP/3 / of one that was not), reported or not",
  }),
  grounds: strict({
    offeredShare: nullable(share).openapi({ description: "The share of clients that were offered HTTP/3" }),
    expectedShare: share,
    http3Elsewhere: nullable(share).openapi({
      description: "The share of HTTP/3 among first pages of new clients that were not offered it",
    }),
    objections: z.array(Objection).openapi({ description: "Any of them forbids every claim" }),
  }),
  rttClasses: z.array(strict({ fromMs: rttMs, toMs: nullable(rttMs), ...Slice.shape }).openapi("RttClass")),
  cells: z
    .array(
      strict({
        position: z.enum(CELL_POSITIONS),
        rttMs,
        contentBytes: amount,
        lossRatio: nullable(lossRatio).openapi({ description: "Null: not known, so of all" }),
        ...Slice.shape,
      }).openapi("CellSlice"),
    )
    .openapi({ description: "The cells of the version's gain table that have clients" }),
  countries: z
    .array(strict({ country, ...Slice.shape }).openapi("CountrySlice"))
    .openapi({ description: "Those with 100 clients in each arm, the largest first, at most 100" }),
  countriesLeftOut: whole,
  autonomousSystems: z
    .array(strict({ asn, ...Slice.shape }).openapi("SystemSlice"))
    .openapi({ description: "Likewise" }),
  autonomousSystemsLeftOut: whole,
}).openapi("Results");
export type Results = z.infer<typeof Results>;

const Change = strict({
  part: z.enum(["next", "return", "price"]),
  rttMs,
  contentBytes: amount.optional().openapi({ description: "Absent for a price" }),
  lossRatio: lossRatio.optional().openapi({ description: "Likewise" }),
  before: z.number(),
  after: z.number(),
  se: z.number(),
  clients: whole.openapi({ description: "Whose pages spoke of it. 0: those of places near it changed it" }),
  text: z.string(),
}).openapi("GainChange");
export type Change = z.infer<typeof Change>;

const Proposed = strict({
  kind: z.literal("proposed"),
  version,
  objects,
  policy,
  clients: whole.openapi({ description: "Whose pages it is learnt from. A client counts in each of its cells" }),
  changes: z.array(Change).readonly().openapi({ description: "The figures of the gain table that change" }),
  gain: Estimate.openapi({
    description: "The expected ln(time now / time with the new table), over the pages of new clients' visits",
  }),
  turned: z
    .array(
      strict({
        rttMs,
        contentBytes: amount,
        share: share.openapi({ description: "Of the new clients" }),
        answer: z.enum(["offer", "withhold"]),
      }).openapi("TurnedAnswer"),
    )
    .readonly()
    .openapi({ description: "Where a new client gets another answer" }),
}).openapi("Proposed");

const NotProposed = strict({
  kind: z.enum(["no-gain-table", "not-comparable", "changed", "no-evidence"]),
  version,
  objects,
  why: z.string(),
}).openapi("NotProposed");

export const Proposal = z.union([Proposed, NotProposed]).openapi("Proposal");
export type Proposal = z.infer<typeof Proposal>;

const query = strict({
  version: versionInPath
    .optional()
    .openapi({ description: "The version that is in force for everyone, unless set", example: 3 }),
});

export const getResults = createRoute({
  ...reads("get", "/results", "getResults", "Compare visitors that were offered HTTP/3 with those that were not"),
  description:
    "By what the pages of clients that were drawn reported, under one version: in all, by class of RTT, by cell of the gain " +
    "table, by country and by autonomous system. Asks every object of the store.",
  request: { query },
  responses: { 200: { ...jsonOf("What can be said, and the figures", Results), links: fromResults }, ...problems(404) },
});

export const getProposal = createRoute({
  ...reads("get", "/results/proposal", "getProposal", "Propose a version by what visitors' pages reported"),
  description: "Stores nothing and switches nothing: add the policy as a version if you want it.",
  request: { query },
  responses: {
    200: { ...jsonOf("A policy with another gain table, or why there is none", Proposal), links: fromProposal },
    ...problems(404, 422),
  },
});
