import { createRoute, z } from "@hono/zod-openapi";
import { AUDIT_ACTIONS } from "../../decision/versions.ts";
import { Activation } from "./activation.ts";
import { isoTime, next, pageQuery, strict, versionNumber } from "./fields.ts";
import { nextPage } from "./links.ts";
import { reads } from "./head.ts";
import { jsonOf, problems } from "./replies.ts";

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
      ...jsonOf("A page", strict({ entries: z.array(AuditEntry), next }).openapi("Audit")),
      links: { nextPage: nextPage("listAudit") },
    },
    ...problems(),
  },
});
