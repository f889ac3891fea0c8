import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { jsonDiff } from "../core/json-diff.ts";
import type { Policy } from "../core/policy.ts";
import type { PolicyVersion } from "../core/versions.ts";
import type { ApiEnv } from "./api.ts";
import type { PolicyStorePort } from "./ports.ts";
import { etagOf, isNoneMatchHit, parseIfMatch } from "./preconditions.ts";
import { Problem } from "./problem.ts";
import { fromVersion, fromVersions } from "./links.ts";
import { guarded, jsonOf, notModified, problems } from "./routes.ts";
import { strict } from "./zod-faults.ts";
import * as schemas from "./schemas.ts";
import { versionView } from "./view.ts";

const tags = ["policies"];

const list = createRoute({
  operationId: "listPolicies",
  method: "get",
  path: "/policies",
  tags,
  summary: "Versions of the policy, newest first",
  ...guarded("read"),
  request: { query: schemas.pageQuery },
  responses: {
    200: {
      ...jsonOf(
        "A page. The ETag is for If-Match when a version is added.",
        strict({ policies: z.array(schemas.PolicyVersion), next: schemas.next }).openapi("PolicyList"),
      ),
      headers: schemas.etagged,
      links: fromVersions,
    },
    ...problems(),
  },
});

const ofVersion = {
  headers: schemas.etagged.extend({ Location: z.string().openapi({ description: "Where the version is" }) }),
  links: fromVersion,
};

const create = createRoute({
  operationId: "createPolicy",
  method: "post",
  path: "/policies",
  tags,
  summary: "Add a version",
  description:
    "A version is immutable and not yet active. A policy that is there already is answered with the version that it is. " +
    "With an Idempotency-Key the call can be repeated for a day: a second one with the same body is answered as the first was.",
  ...guarded("write", "body"),
  request: {
    headers: z.object({
      "idempotency-key": z
        .string()
        .regex(/^[\u0021-\u007e]{1,255}$/, "must be 1 to 255 visible ASCII characters")
        .optional(),
      "if-match": schemas.optionalTags.openapi({
        description: "The list's ETag: add only if nobody has meanwhile",
        example: "*",
      }),
    }),
    body: {
      ...jsonOf("", strict({ policy: schemas.policy, note: schemas.note.optional() }).openapi("NewPolicy")),
      required: true,
    },
  },
  responses: {
    200: { ...jsonOf("This very policy is there already", schemas.StoredPolicy), ...ofVersion },
    201: { ...jsonOf("Added; Location and ETag are its own", schemas.StoredPolicy), ...ofVersion },
    ...problems(412, 413, 422),
  },
});

const show = createRoute({
  operationId: "getPolicy",
  method: "get",
  path: "/policies/{version}",
  tags,
  summary: "One version",
  ...guarded("read"),
  request: { params: strict({ version: schemas.versionInPath }), headers: schemas.ifNoneMatch },
  responses: {
    200: {
      ...jsonOf("Version 0 is what a store has in which nobody has put a policy", schemas.StoredPolicy),
      headers: schemas.etagged,
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

const diff = createRoute({
  operationId: "diffPolicies",
  method: "get",
  path: "/policies/{version}/diff/{other}",
  tags,
  summary: "In what one version differs from another",
  ...guarded("read"),
  request: { params: strict({ version: schemas.versionInPath, other: schemas.versionInPath }) },
  responses: {
    200: jsonOf(
      "From `version` to `other`; lists of plain values are one value",
      strict({ from: schemas.versionNumber, to: schemas.versionNumber, changes: z.array(change) }).openapi(
        "PolicyDiff",
      ),
    ),
    ...problems(404, 422),
  },
});

export function addPolicies(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(list, async (c) => {
    const { items, next, latest } = await c.get("ports").store.versions(c.req.valid("query"));
    c.header("etag", etagOf("v", latest));
    return c.json({ policies: items.map(versionView), next }, 200);
  });

  api.openapi(create, async (c) => {
    const { policy, note = null } = c.req.valid("json");
    const headers = c.req.valid("header");
    const created = await c.get("ports").store.create({
      policy,
      author: c.get("actor"),
      note,
      ifMatch: parseIfMatch(headers["if-match"], "v"),
      idempotencyKey: headers["idempotency-key"],
    });
    switch (created.kind) {
      case "key-reused":
        throw Problem.ofFaults("the Idempotency-Key came before, with another body", [
          { pointer: "/header/idempotency-key", message: "must be another for another body", relation: true },
        ]);
      case "precondition-failed": {
        const etag = etagOf("v", created.latest);
        throw new Problem(
          412,
          `version ${created.latest} was added meanwhile`,
          { current: { version: created.latest, etag } },
          { etag },
        );
      }
      case "created": {
        const { version, isNew } = created;
        c.header("etag", etagOf("v", version.version));
        c.header("location", `${new URL(c.req.url).pathname.replace(/\/$/, "")}/${version.version}`);
        return c.json({ ...versionView(version), policy }, isNew ? 201 : 200);
      }
    }
  });

  api.openapi(show, async (c) => {
    const found = await versionOf(c.get("ports").store, c.req.valid("param").version, "/path/version");
    const etag = etagOf("v", found.version.version);
    c.header("etag", etag);
    if (isNoneMatchHit(c.req.header("if-none-match"), etag)) return c.body(null, 304);
    return c.json({ ...versionView(found.version), policy: found.policy ?? null }, 200);
  });

  api.openapi(diff, async (c) => {
    const { version, other } = c.req.valid("param");
    const { store } = c.get("ports");
    const [from, to] = await Promise.all([
      versionOf(store, version, "/path/version"),
      versionOf(store, other, "/path/other"),
    ]);
    for (const { policy, version: unreadable } of [from, to])
      if (policy === undefined) throw new Problem(422, `version ${unreadable.version} cannot be read any more`);
    return c.json({ from: version, to: other, changes: [...jsonDiff(from.policy, to.policy)] }, 200);
  });
}

async function versionOf(
  store: PolicyStorePort,
  version: number,
  pointer: string,
): Promise<{ version: PolicyVersion; policy: Policy | undefined }> {
  const found = await store.version(version);
  if (found === undefined)
    throw new Problem(404, `there is no version ${version}`, { faults: [{ pointer, message: "is no known version" }] });
  return found;
}
