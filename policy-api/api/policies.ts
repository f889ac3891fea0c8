import type { OpenAPIHono } from "@hono/zod-openapi";
import { createPolicy, diffPolicies, getPolicy, listPolicies } from "./contract/policies.ts";
import { jsonDiff } from "../decision/json-diff.ts";
import type { StoredVersion } from "../decision/versions.ts";
import type { ApiEnv } from "./env.ts";
import { guarded } from "./guarded.ts";
import type { PolicyStorePort } from "./ports.ts";
import { etagOf, isNoneMatchHit, parseIfMatch } from "./preconditions.ts";
import { Problem } from "./problem.ts";
import { versionView } from "./view.ts";

export function addPolicies(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(guarded(listPolicies), async (c) => {
    const { items, next, latest } = await c.get("ports").store.versions(c.req.valid("query"));
    c.header("etag", etagOf("v", latest));
    return c.json({ policies: items.map(versionView), next }, 200);
  });

  api.openapi(guarded(createPolicy), async (c) => {
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
        throw Problem.ofFaults("this Idempotency-Key came before with another body", [
          { pointer: "/header/idempotency-key", message: "must be a new key for a new body", relation: true },
        ]);
      case "precondition-failed": {
        const { latest } = created;
        throw Problem.changed(`version ${latest} was added meanwhile`, { version: latest }, etagOf("v", latest));
      }
      case "created": {
        const { version, isNew } = created;
        c.header("etag", etagOf("v", version.version));
        c.header("location", `${new URL(c.req.url).pathname.replace(/\/$/, "")}/${version.version}`);
        return c.json({ ...versionView(version), policy }, isNew ? 201 : 200);
      }
    }
  });

  api.openapi(guarded(getPolicy), async (c) => {
    const found = await versionOf(c.get("ports").store, c.req.valid("param").version, "/path/version");
    const etag = etagOf("v", found.version.version);
    c.header("etag", etag);
    if (isNoneMatchHit(c.req.header("if-none-match"), etag)) return c.body(null, 304);
    return c.json({ ...versionView(found.version), policy: found.policy ?? null }, 200);
  });

  api.openapi(guarded(diffPolicies), async (c) => {
    const { version, other } = c.req.valid("param");
    const { store } = c.get("ports");
    const [from, to] = await Promise.all([
      versionOf(store, version, "/path/version"),
      versionOf(store, other, "/path/other"),
    ]);
    for (const { policy, fault, version: unreadable } of [from, to])
      if (policy === undefined) throw new Problem(422, `version ${unreadable.version} ${fault}`);
    return c.json({ from: version, to: other, changes: [...jsonDiff(from.policy, to.policy)] }, 200);
  });
}

/** @throws Problem if there is no such version */
export async function versionOf(store: PolicyStorePort, version: number, pointer: string): Promise<StoredVersion> {
  const found = await store.version(version);
  if (found === undefined)
    throw new Problem(404, `there is no version ${version}`, {
      faults: [{ pointer, message: "is no known version" }],
    });
  return found;
}
