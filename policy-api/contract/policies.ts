import { createRoute, z } from "@hono/zod-openapi";
import { MODES } from "../core/policy.ts";
import { reads, writes } from "./access.ts";
import { etagged, ifNoneMatch, notModified, optionalTags } from "./etags.ts";
import { isoTime, next, note, pageQuery, policy, versionInPath, versionNumber } from "./fields.ts";
import { fromVersion, fromVersions } from "./links.ts";
import { bodyOf, jsonOf, problems } from "./replies.ts";
import { strict } from "./strict.ts";

const tags = ["policies"];

export const PolicyVersion = strict({
  version: versionNumber,
  contentHash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .openapi({ description: "SHA-256 of the policy, hexadecimal" }),
  author: z.string().openapi({ description: "The name of the token that made it" }),
  note: z.string().nullable(),
  createdAt: isoTime,
  mode: z.enum(MODES).nullable().openapi({ description: "Null where the policy cannot be read any more" }),
  source: z.string().nullable(),
}).openapi("PolicyVersion");
export type PolicyVersion = z.infer<typeof PolicyVersion>;

const StoredPolicy = strict({ ...PolicyVersion.shape, policy: z.union([policy, z.null()]) }).openapi("StoredPolicy");
export type StoredPolicy = z.infer<typeof StoredPolicy>;

export const listPolicies = createRoute({
  operationId: "listPolicies",
  method: "get",
  path: "/policies",
  tags,
  summary: "Versions of the policy, newest first",
  ...reads,
  request: { query: pageQuery },
  responses: {
    200: {
      ...jsonOf(
        "A page. The ETag is for If-Match when a version is added.",
        strict({ policies: z.array(PolicyVersion), next }).openapi("PolicyList"),
      ),
      headers: etagged,
      links: fromVersions,
    },
    ...problems(),
  },
});

const ofVersion = {
  headers: etagged.extend({ Location: z.string().openapi({ description: "Where the version is" }) }),
  links: fromVersion,
};

export const createPolicy = createRoute({
  operationId: "createPolicy",
  method: "post",
  path: "/policies",
  tags,
  summary: "Add a version",
  description:
    "A version is immutable and not yet active. A policy that is there already is answered with the version that it is. " +
    "With an Idempotency-Key the call can be repeated for a day: a second one with the same body is answered as the first was.",
  ...writes,
  request: {
    headers: z.object({
      "idempotency-key": z
        .string()
        .regex(/^[\u0021-\u007e]{1,255}$/, "must be 1 to 255 visible ASCII characters")
        .optional(),
      "if-match": optionalTags.openapi({
        description: "The list's ETag: add only if nobody has meanwhile",
        example: "*",
      }),
    }),
    body: bodyOf(strict({ policy, note: note.optional() }).openapi("NewPolicy")),
  },
  responses: {
    200: { ...jsonOf("This very policy is there already", StoredPolicy), ...ofVersion },
    201: { ...jsonOf("Added; Location and ETag are its own", StoredPolicy), ...ofVersion },
    ...problems(412, 413, 422),
  },
});

export const getPolicy = createRoute({
  operationId: "getPolicy",
  method: "get",
  path: "/policies/{version}",
  tags,
  summary: "One version",
  ...reads,
  request: { params: strict({ version: versionInPath }), headers: ifNoneMatch },
  responses: {
    200: {
      ...jsonOf("Version 0 is what a store has in which nobody has put a policy", StoredPolicy),
      headers: etagged,
      links: fromVersion,
    },
    304: notModified,
    ...problems(404),
  },
});

const change = strict({
  pointer: z.string().openapi({ description: "JSON pointer (RFC 6901)" }),
  kind: z.enum(["added", "removed", "changed"]),
  before: z.unknown().optional(),
  after: z.unknown().optional(),
}).openapi("PolicyChange");

export const diffPolicies = createRoute({
  operationId: "diffPolicies",
  method: "get",
  path: "/policies/{version}/diff/{other}",
  tags,
  summary: "In what one version differs from another",
  ...reads,
  request: { params: strict({ version: versionInPath, other: versionInPath }) },
  responses: {
    200: jsonOf(
      "From `version` to `other`; lists of plain values are one value",
      strict({ from: versionNumber, to: versionNumber, changes: z.array(change) }).openapi("PolicyDiff"),
    ),
    ...problems(404, 422),
  },
});
