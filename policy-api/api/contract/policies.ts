import { createRoute, z } from "@hono/zod-openapi";
import { MODES } from "../../decision/policy.ts";
import { etagged, ifNoneMatch, notModified, optionalTags } from "./etags.ts";
import { isoTime, next, note, pageQuery, policy, strict, versionInPath, versionNumber } from "./fields.ts";
import { fromVersion, fromVersions } from "./links.ts";
import { reads, writes } from "./head.ts";
import { bodyOf, jsonOf, problems } from "./replies.ts";

export const PolicyVersion = strict({
  version: versionNumber,
  contentHash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .openapi({ description: "SHA-256 of the policy, hexadecimal" }),
  author: z.string().openapi({ description: "The name of the token that made it" }),
  note: z.string().nullable(),
  createdAt: isoTime,
  mode: z.enum(MODES).nullable().openapi({ description: "Null if the policy can no longer be read" }),
  source: z.string().nullable(),
}).openapi("PolicyVersion");
export type PolicyVersion = z.infer<typeof PolicyVersion>;

const StoredPolicy = strict({ ...PolicyVersion.shape, policy: z.union([policy, z.null()]) }).openapi("StoredPolicy");
export type StoredPolicy = z.infer<typeof StoredPolicy>;

export const listPolicies = createRoute({
  ...reads("get", "/policies", "listPolicies", "List the versions of the policy, newest first"),
  request: { query: pageQuery },
  responses: {
    200: {
      ...jsonOf(
        "A page. Its ETag is the If-Match for adding a version.",
        strict({ policies: z.array(PolicyVersion), next }).openapi("PolicyList"),
      ),
      headers: etagged,
      links: fromVersions,
    },
    ...problems(),
  },
});

const ofVersion = {
  headers: etagged.extend({ Location: z.string().openapi({ description: "The path of the version" }) }),
  links: fromVersion,
};

export const createPolicy = createRoute({
  ...writes("post", "/policies", "createPolicy", "Add a version"),
  description:
    "A version is immutable and not yet active. For a policy that the store has already, the answer is its version. " +
    "With an Idempotency-Key the call can be repeated for a day, with the same body, and gets the same answer.",
  request: {
    headers: z.object({
      "idempotency-key": z
        .string()
        .regex(/^[\u0021-\u007e]{1,255}$/, "must be 1 to 255 visible ASCII characters")
        .optional(),
      "if-match": optionalTags.openapi({
        description: "The list's ETag: add only if nobody has added a version meanwhile",
        example: "*",
      }),
    }),
    body: bodyOf(strict({ policy, note: note.optional() }).openapi("NewPolicy")),
  },
  responses: {
    200: { ...jsonOf("The store has this policy already", StoredPolicy), ...ofVersion },
    201: { ...jsonOf("Added. Location and ETag belong to the new version", StoredPolicy), ...ofVersion },
    ...problems(412, 413, 422),
  },
});

export const getPolicy = createRoute({
  ...reads("get", "/policies/{version}", "getPolicy", "Show one version"),
  request: { params: strict({ version: versionInPath }), headers: ifNoneMatch },
  responses: {
    200: {
      ...jsonOf("The version. Version 0 is the policy of a new store", StoredPolicy),
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
  ...reads("get", "/policies/{version}/diff/{other}", "diffPolicies", "Compare two versions"),
  request: { params: strict({ version: versionInPath, other: versionInPath }) },
  responses: {
    200: jsonOf(
      "The changes from `version` to `other`. A list of plain values counts as one value",
      strict({ from: versionNumber, to: versionNumber, changes: z.array(change) }).openapi("PolicyDiff"),
    ),
    ...problems(404, 422),
  },
});
