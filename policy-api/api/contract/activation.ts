import { createRoute, z } from "@hono/zod-openapi";
import { AUTOPILOT_STEPS, KILL_SWITCHES, STAGES_MAX } from "../../decision/activation.ts";
import { etagged, ifMatch, ifNoneMatch, notModified } from "./etags.ts";
import { isoTime, next, note, pageQuery, share, strict, versionNumber } from "./fields.ts";
import { fromActivation, nextPage } from "./links.ts";
import { reads, writes } from "./head.ts";
import { bodyOf, jsonOf, problems } from "./replies.ts";

const Stage = strict({
  version: versionNumber,
  share: share.openapi({ description: "The share of clients. A client in it stays in it when the share grows" }),
  pathPrefix: z.string().min(1).max(1000).regex(/^\//, "must begin with /").optional(),
}).openapi("Stage");
const stages = z.array(Stage).max(STAGES_MAX).openapi({ description: "The first stage that matches counts" });
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
      ...jsonOf("A page", strict({ activations: z.array(Activation), next }).openapi("ActivationHistory")),
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
const held = jsonOf(
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
  responses: { 200: changedTo, 202: held, ...problems(412, 413, 428) },
});

export const deleteKillSwitch = createRoute({
  ...writes("delete", "/activation/kill-switch", "deleteKillSwitch", "Obey the policy again"),
  description: "Also turns off a kill switch that the store could not take.",
  request: { headers: ifMatch },
  responses: { 200: changedTo, 202: held, ...problems(412, 428) },
});
