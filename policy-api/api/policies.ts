import type { OpenAPIHono } from "@hono/zod-openapi";
import type { ActivePolicy } from "../decision/activation.ts";
import { jsonDiff } from "../decision/json-diff.ts";
import { UNREADABLE } from "../decision/policy.ts";
import type { Precondition, StoredVersion } from "../decision/versions.ts";
import { type ApiEnv, guarded } from "./authenticate.ts";
import { createPolicy, diffPolicies, getPolicy, listPolicies } from "./contract/policies.ts";
import type { PolicyStorePort } from "./ports.ts";
import { Problem } from "./problem.ts";

export function addPolicies(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(guarded(listPolicies), async (c) => {
    const { items, next, latest } = await c.get("ports").store.versions(c.req.valid("query"));
    c.header("etag", etagOf("v", latest));
    return c.json({ policies: items, next }, 200);
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
        return c.json({ ...version, policy }, isNew ? 201 : 200);
      }
    }
  });

  api.openapi(guarded(getPolicy), async (c) => {
    const found = await versionOf(c.get("ports").store, c.req.valid("param").version, "/path/version");
    const etag = etagOf("v", found.version.version);
    c.header("etag", etag);
    if (isNoneMatchHit(c.req.header("if-none-match"), etag)) return c.body(null, 304);
    return c.json({ ...found.version, policy: found.policy ?? null }, 200);
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

/** What the number in an ETag is: a version (also of a list, its newest), or a revision of the activation. */
type Numbered = "v" | "r";

/** A strong entity tag (RFC 9110 section 8.8.3). */
export function etagOf(kind: Numbered, number: number): string {
  return `"${kind}${number}"`;
}

/**
 * Reads If-Match (RFC 9110 section 13.1.1). Weak tags, and tags of the other kind, match nothing.
 *
 * @returns undefined without a header.
 */
export function parseIfMatch(header: string | undefined, kind: Numbered): Precondition | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === "*") return "*";
  return header.split(",").flatMap((tag) => {
    const [, letter, digits] = /^\s*"([vr])(\d{1,15})"\s*$/.exec(tag) ?? [];
    return letter === kind ? [Number(digits)] : [];
  });
}

/** Whether the caller's copy is current (RFC 9110 section 13.1.2, weak comparison). */
export function isNoneMatchHit(header: string | undefined, etag: string): boolean {
  return (
    header !== undefined &&
    (header.trim() === "*" || header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag))
  );
}

/** For a version in force whose policy cannot be read. */
export function silentText({ version, fault = UNREADABLE }: ActivePolicy): string {
  return `version ${version} is in force and offers nothing, as it ${fault}`;
}
