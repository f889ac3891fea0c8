import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Activation, ActivationChange } from "../core/activation.ts";
import type { ApiEnv } from "./api.ts";
import { etagOf, isNoneMatchHit, parseIfMatch } from "./preconditions.ts";
import { Problem } from "./problem.ts";
import { fromActivation, nextPage } from "./links.ts";
import { guarded, jsonOf, notModified, problems } from "./routes.ts";
import { strict } from "./zod-faults.ts";
import * as schemas from "./schemas.ts";
import { activationView } from "./view.ts";

const tags = ["activation"];

const ifMatch = z.object({
  // Without it: 428 (RFC 6585), which says more than 400.
  "if-match": schemas.ifMatchTags.optional().openapi({
    description: "The ETag of what is to be changed; * for whatever there is",
    example: "*",
    param: { required: true },
  }),
});
const changedTo = {
  ...jsonOf("What is now in force: on disk, obeyed here at once, and everywhere 30 s later", schemas.Activation),
  headers: schemas.etagged,
  links: fromActivation,
};
const noteOnly = strict({ note: schemas.note.optional() }).openapi("Note");

const show = createRoute({
  operationId: "getActivation",
  method: "get",
  path: "/activation",
  tags,
  summary: "Which version is for whom",
  ...guarded("read"),
  request: { headers: schemas.ifNoneMatch },
  responses: {
    200: { ...jsonOf("The activation in force", schemas.Activation), headers: schemas.etagged, links: fromActivation },
    304: notModified,
    ...problems(),
  },
});

const put = createRoute({
  operationId: "putActivation",
  method: "put",
  path: "/activation",
  tags,
  summary: "Activate versions: for everyone, for a share of clients, by path",
  description: "The kill switch stays as it is. What changes nothing makes no new revision.",
  ...guarded("write", "body"),
  request: {
    headers: ifMatch,
    body: {
      ...jsonOf(
        "",
        strict({
          everyone: schemas.versionNumber,
          stages: schemas.stages.default([]),
          note: schemas.note.optional(),
        }).openapi("NewActivation"),
      ),
      required: true,
    },
  },
  responses: { 200: changedTo, ...problems(412, 413, 422, 428) },
});

const history = createRoute({
  operationId: "listActivations",
  method: "get",
  path: "/activation/history",
  tags,
  summary: "All revisions of the activation, newest first",
  ...guarded("read"),
  request: { query: schemas.pageQuery },
  responses: {
    200: {
      ...jsonOf(
        "A page",
        strict({ activations: z.array(schemas.Activation), next: schemas.next }).openapi("ActivationHistory"),
      ),
      links: { nextPage: nextPage("listActivations") },
    },
    ...problems(),
  },
});

const rollback = createRoute({
  operationId: "rollBack",
  method: "post",
  path: "/activation/rollback",
  tags,
  summary: "Go back to what was in force before",
  description: "The kill switch included. Two rollbacks undo two changes.",
  ...guarded("write", "body"),
  request: { headers: ifMatch, body: jsonOf("", noteOnly) },
  responses: { 200: changedTo, ...problems(409, 412, 413, 428) },
});

const killOn = createRoute({
  operationId: "putKillSwitch",
  method: "put",
  path: "/activation/kill-switch",
  tags,
  summary: "Stop offering HTTP/3 to anybody",
  description:
    "fixed-h2: nothing is offered, and what clients may still hold is taken back. clear: `Alt-Svc: clear` on every page.",
  ...guarded("write", "body"),
  request: {
    headers: ifMatch,
    body: {
      ...jsonOf("", strict({ kind: schemas.killSwitch, note: schemas.note.optional() }).openapi("KillSwitch")),
      required: true,
    },
  },
  responses: { 200: changedTo, ...problems(412, 413, 428) },
});

const killOff = createRoute({
  operationId: "deleteKillSwitch",
  method: "delete",
  path: "/activation/kill-switch",
  tags,
  summary: "Obey the policy again",
  ...guarded("write"),
  request: { headers: ifMatch },
  responses: { 200: changedTo, ...problems(412, 428) },
});

export function addActivation(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(show, async (c) => {
    const activation = await c.get("ports").store.activation();
    if (activation === undefined)
      throw new Problem(503, "the stored activation cannot be read: put one, with If-Match: *");
    const etag = etagOf("r", activation.revision);
    c.header("etag", etag);
    if (isNoneMatchHit(c.req.header("if-none-match"), etag)) return c.body(null, 304);
    return c.json(activationView(activation), 200);
  });

  api.openapi(history, async (c) => {
    const { items, next } = await c.get("ports").store.activations(c.req.valid("query"));
    return c.json({ activations: items.map(activationView), next }, 200);
  });

  api.openapi(put, async (c) => {
    const { everyone, stages, note } = c.req.valid("json");
    return c.json(activationView(await changeTo(c, { kind: "put", everyone, stages }, note)), 200);
  });

  api.openapi(rollback, async (c) => {
    const { note } = c.req.valid("json");
    return c.json(activationView(await changeTo(c, { kind: "rollback" }, note)), 200);
  });

  api.openapi(killOn, async (c) => {
    const { kind, note } = c.req.valid("json");
    return c.json(activationView(await changeTo(c, { kind: "kill-switch", to: kind }, note)), 200);
  });

  api.openapi(killOff, async (c) =>
    c.json(activationView(await changeTo(c, { kind: "kill-switch", to: null }, undefined)), 200),
  );
}

/** Makes a change under the call's If-Match, and sets the reply's ETag. @throws Problem */
async function changeTo(c: Context<ApiEnv>, change: ActivationChange, note: string | undefined): Promise<Activation> {
  const precondition = parseIfMatch(c.req.header("if-match"), "r");
  if (precondition === undefined)
    throw new Problem(428, "send If-Match with the ETag of GET activation, or * for whatever is in force", {
      faults: [{ pointer: "/header/if-match", message: "is missing" }],
    });
  const ports = c.get("ports");
  const result = await ports.store.change(change, {
    author: c.get("actor"),
    note: note ?? null,
    ifMatch: precondition,
  });
  switch (result.kind) {
    case "precondition-failed": {
      const etag = etagOf("r", result.current.revision);
      const { revision, author } = result.current;
      throw new Problem(
        412,
        `revision ${revision}, by ${author}, is in force`,
        { current: { revision, etag } },
        { etag },
      );
    }
    case "nothing-before":
      throw new Problem(409, "there is nothing to go back to");
    case "no-such-version":
      throw Problem.ofFaults(
        "only versions that are there, and can be read, can be activated",
        faultsOf(change, result.versions),
      );
    case "changed": {
      await ports.changed();
      c.header("etag", etagOf("r", result.activation.revision));
      return result.activation;
    }
  }
}

function faultsOf(
  change: ActivationChange,
  missing: readonly number[],
): { pointer: string; message: string; relation: true }[] {
  if (change.kind !== "put") return [];
  const named = [
    { pointer: "/everyone", version: change.everyone },
    ...change.stages.map(({ version }, i) => ({ pointer: `/stages/${i}/version`, version })),
  ];
  return named
    .filter(({ version }) => missing.includes(version))
    .map(({ pointer, version }) => ({ pointer, message: `there is no version ${version}`, relation: true as const }));
}
