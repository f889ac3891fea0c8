import { createRoute, z } from "@hono/zod-openapi";
import { MODES } from "../../decision/policy.ts";
import {
  bodyOf,
  etagged,
  fromActivation,
  fromVersion,
  fromVersions,
  ifMatch,
  ifNoneMatch,
  jsonOf,
  nextPage,
  notModified,
  optionalTags,
  problems,
  reads,
  writes,
} from "./routes.ts";
import { isoTime, next, note, pageQuery, policy, share, strict, versionInPath, versionNumber } from "./fields.ts";
import { AUTOPILOT_STEPS, KILL_SWITCHES, STAGES_MAX } from "../../decision/activation.ts";
import { AUDIT_ACTIONS } from "../../decision/versions.ts";

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

export const listPolicies = createRoute({
  ...reads("get", "/policies", "listPolicies", "List the versions of the policy, newest first"),
  request: { query: pageQuery },
  responses: {
    200: {
      ...jsonOf(
        "A page. Its ETag is the If-Match for adding a version.",
        strict({ policies: z.array(PolicyVersion).readonly(), next }).openapi("PolicyList"),
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

const Stage = strict({
  version: versionNumber,
  share: share.openapi({ description: "The share of clients. A client in it stays in it when the share grows" }),
  pathPrefix: z.string().min(1).max(1000).regex(/^\//, "must begin with /").optional(),
}).openapi("Stage");
const stages = z
  .array(Stage)
  .max(STAGES_MAX)
  .readonly()
  .openapi({ description: "The first stage that matches counts" });
const killSwitch = z.enum(KILL_SWITCHES);

const Cause = strict({ step: z.enum(AUTOPILOT_STEPS), version: versionNumber }).openapi("Cause", {
  description: "What the autopilot did, and to which version. Only a token of the scope autopilot can say so",
});

export const Activation = strict({
  revision: versionNumber,
  everyone: versionNumber.openapi({ description: "The version for all whom no stage matches; 0: observe" }),
  stages,
  killSwitch: killSwitch.nullable(),
  killSwitchStored: z
    .literal(false)
    .optional()
    .openapi({ description: "There if the kill switch is in force in memory, because the store could not take it" }),
  author: z.string(),
  note: z.string().nullable(),
  cause: z.union([Cause, z.null()]).openapi({ description: "Null: it is not the autopilot's" }),
  at: isoTime,
  previousRevision: versionNumber.nullable().openapi({ description: "The revision that a rollback returns to" }),
}).openapi("Activation");
export type Activation = z.infer<typeof Activation>;

const NewActivation = strict({
  everyone: versionNumber,
  stages: stages.default([]),
  note: note.optional(),
  cause: Cause.optional(),
}).openapi("NewActivation");
export type NewActivation = z.input<typeof NewActivation>;

function inForce(description: string) {
  return { ...jsonOf(description, Activation), headers: etagged, links: fromActivation };
}
const changedTo = inForce("The new activation. It is on disk; this isolate obeys it now, all others within 30 s");

export const getActivation = createRoute({
  ...reads("get", "/activation", "getActivation", "Show which version is for whom"),
  request: { headers: ifNoneMatch },
  responses: {
    200: inForce("The activation in force"),
    304: notModified,
    ...problems(),
  },
});

export const putActivation = createRoute({
  ...writes("put", "/activation", "putActivation", "Activate versions: for everyone, for a share of clients, by path"),
  description: "The kill switch stays as it is. A call that changes nothing makes no new revision.",
  request: {
    headers: ifMatch,
    body: bodyOf(NewActivation),
  },
  responses: { 200: changedTo, ...problems(412, 413, 422, 428) },
});

export const listActivations = createRoute({
  ...reads("get", "/activation/history", "listActivations", "List all revisions of the activation, newest first"),
  request: { query: pageQuery },
  responses: {
    200: {
      ...jsonOf("A page", strict({ activations: z.array(Activation).readonly(), next }).openapi("ActivationHistory")),
      links: { nextPage: nextPage("listActivations") },
    },
    ...problems(),
  },
});

export const rollBack = createRoute({
  ...writes("post", "/activation/rollback", "rollBack", "Return to the activation before"),
  description: "This includes the kill switch. Two rollbacks undo two changes.",
  request: { headers: ifMatch, body: jsonOf("", strict({ note: note.optional() }).openapi("Note")) },
  responses: { 200: changedTo, ...problems(409, 412, 413, 428) },
});

const UnstoredKillSwitch = strict({
  stored: z.literal(false),
  killSwitch: killSwitch.nullable(),
  problem: z.string(),
}).openapi("UnstoredKillSwitch");
export type UnstoredKillSwitch = z.infer<typeof UnstoredKillSwitch>;
const unstored = jsonOf(
  "In force, but not stored, because the store does not answer or cannot be written. `problem` says how long it lasts",
  UnstoredKillSwitch,
);

export const putKillSwitch = createRoute({
  ...writes("put", "/activation/kill-switch", "putKillSwitch", "Stop offering HTTP/3 to anybody"),
  description:
    "fixed-h2: offers nothing, and takes back what clients may still hold. clear: sends `Alt-Svc: clear` with every page. " +
    "If the store cannot take it, it is in force all the same (202), and the store is asked again every few seconds.",
  request: {
    headers: ifMatch,
    body: bodyOf(strict({ kind: killSwitch, note: note.optional() }).openapi("KillSwitch")),
  },
  responses: { 200: changedTo, 202: unstored, ...problems(412, 413, 428) },
});

export const deleteKillSwitch = createRoute({
  ...writes("delete", "/activation/kill-switch", "deleteKillSwitch", "Obey the policy again"),
  description: "Also turns off a kill switch that the store could not take.",
  request: { headers: ifMatch },
  responses: { 200: changedTo, 202: unstored, ...problems(412, 428) },
});

export const AuditEntry = strict({
  id: versionNumber,
  at: isoTime,
  actor: z.string().openapi({ description: "The name of a token" }),
  action: z.enum(AUDIT_ACTIONS),
  version: versionNumber.nullable().openapi({ description: "The version that was created" }),
  revision: versionNumber.nullable().openapi({ description: "The revision of the activation" }),
  activation: strict(Activation.pick({ everyone: true, stages: true, killSwitch: true }).shape)
    .nullable()
    .openapi({ description: "What the change put in force; null for other changes" }),
  note: z.string().nullable(),
}).openapi("AuditEntry");
export type AuditEntry = z.infer<typeof AuditEntry>;

export const listAudit = createRoute({
  ...reads("get", "/audit", "listAudit", "List who did what and when, newest first"),
  request: { query: pageQuery },
  responses: {
    200: {
      ...jsonOf("A page", strict({ entries: z.array(AuditEntry).readonly(), next }).openapi("Audit")),
      links: { nextPage: nextPage("listAudit") },
    },
    ...problems(),
  },
});
