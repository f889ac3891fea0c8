import { createRoute, z } from "@hono/zod-openapi";
import { KILL_SWITCHES, STAGES_MAX } from "../core/activation.ts";
import { etagged, ifMatch, ifNoneMatch, notModified } from "./etags.ts";
import { isoTime, next, note, pageQuery, share, versionNumber } from "./fields.ts";
import { fromActivation, nextPage } from "./links.ts";
import { reads, writes } from "./head.ts";
import { bodyOf, jsonOf, problems } from "./replies.ts";
import { strict } from "./strict.ts";

const Stage = strict({
  version: versionNumber,
  share: share.openapi({ description: "Of the clients; which these are stays the same, also when it grows" }),
  pathPrefix: z.string().min(1).max(1000).regex(/^\//, "must begin with /").optional(),
}).openapi("Stage");
const stages = z.array(Stage).max(STAGES_MAX).openapi({ description: "The first that matches counts" });
const killSwitch = z.enum(KILL_SWITCHES);

export const Activation = strict({
  revision: versionNumber,
  everyone: versionNumber.openapi({ description: "The version for whom no stage matches; 0: observe" }),
  stages,
  killSwitch: killSwitch.nullable(),
  author: z.string(),
  note: z.string().nullable(),
  at: isoTime,
  previousRevision: versionNumber.nullable().openapi({ description: "What a rollback returns to" }),
}).openapi("Activation");
export type Activation = z.infer<typeof Activation>;

const NewActivation = strict({
  everyone: versionNumber,
  stages: stages.default([]),
  note: note.optional(),
}).openapi("NewActivation");
export type NewActivation = z.input<typeof NewActivation>;

const inForce = (description: string) => ({
  ...jsonOf(description, Activation),
  headers: etagged,
  links: fromActivation,
});
const changedTo = inForce("What is now in force: on disk, obeyed here at once, and everywhere 30 s later");

export const getActivation = createRoute({
  ...reads("get", "/activation", "getActivation", "Which version is for whom"),
  request: { headers: ifNoneMatch },
  responses: {
    200: inForce("The activation in force"),
    304: notModified,
    ...problems(),
  },
});

export const putActivation = createRoute({
  ...writes("put", "/activation", "putActivation", "Activate versions: for everyone, for a share of clients, by path"),
  description: "The kill switch stays as it is. What changes nothing makes no new revision.",
  request: {
    headers: ifMatch,
    body: bodyOf(NewActivation),
  },
  responses: { 200: changedTo, ...problems(412, 413, 422, 428) },
});

export const listActivations = createRoute({
  ...reads("get", "/activation/history", "listActivations", "All revisions of the activation, newest first"),
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
  ...writes("post", "/activation/rollback", "rollBack", "Go back to what was in force before"),
  description: "The kill switch included. Two rollbacks undo two changes.",
  request: { headers: ifMatch, body: jsonOf("", strict({ note: note.optional() }).openapi("Note")) },
  responses: { 200: changedTo, ...problems(409, 412, 413, 428) },
});

export const putKillSwitch = createRoute({
  ...writes("put", "/activation/kill-switch", "putKillSwitch", "Stop offering HTTP/3 to anybody"),
  description:
    "fixed-h2: nothing is offered, and what clients may still hold is taken back. clear: `Alt-Svc: clear` on every page.",
  request: {
    headers: ifMatch,
    body: bodyOf(strict({ kind: killSwitch, note: note.optional() }).openapi("KillSwitch")),
  },
  responses: { 200: changedTo, ...problems(412, 413, 428) },
});

export const deleteKillSwitch = createRoute({
  ...writes("delete", "/activation/kill-switch", "deleteKillSwitch", "Obey the policy again"),
  request: { headers: ifMatch },
  responses: { 200: changedTo, ...problems(412, 428) },
});
