import type { OpenAPIHono } from "@hono/zod-openapi";
import type { StoredVersion } from "../decision/versions.ts";
import type { Estimate } from "../visitors/intervals.ts";
import { propose } from "../visitors/propose.ts";
import { learningOf, resultsOf } from "../visitors/results.ts";
import { type ApiEnv, guarded } from "./authenticate.ts";
import { getProposal, getResults } from "./contract/results.ts";
import { versionOf } from "./policies.ts";
import type { PolicyApiPorts } from "./ports.ts";
import { Problem } from "./problem.ts";

// What visitors' pages reported, and what follows from it.

export function addResults(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(guarded(getResults), async (c) => {
    const { outcomes, store } = c.get("ports");
    const { version, policy } = await chosenVersion(c.req.valid("query").version, store);
    const { gathered, objects } = await outcomes.outcomes(version.version);
    return c.json(withNulls(resultsOf(gathered, policy, objects)), 200);
  });

  api.openapi(guarded(getProposal), async (c) => {
    const ports = c.get("ports");
    const { version, policy, fault } = await chosenVersion(c.req.valid("query").version, ports.store);
    if (policy === undefined) throw new Problem(422, `version ${version.version} ${fault}`);
    const { gathered, objects } = await ports.outcomes.outcomes(version.version);
    const proposal = propose(learningOf(gathered, policy, ports.servingStack(c.req.raw)));
    return c.json({ version: version.version, objects, ...proposal }, 200);
  });
}

/** The version of this number, or the one that is in force for everyone. @throws Problem */
async function chosenVersion(number: number | undefined, store: PolicyApiPorts["store"]): Promise<StoredVersion> {
  if (number !== undefined) return versionOf(store, number, "/query/version");
  const activation = await store.activation();
  if (activation === undefined) throw new Problem(503, "the policy in force cannot be read: name a version");
  return versionOf(store, activation.everyone, "/query/version");
}

type Shown<T> = T extends undefined ? null : T extends object ? { -readonly [K in keyof T]: Shown<T[K]> } : T;

/** What is not known, and a figure that JSON cannot write, is null: with it the estimate that it belongs to. */
function withNulls<T>(value: T): Shown<T>;
function withNulls(value: unknown): unknown {
  if (value === undefined || (typeof value === "number" && !Number.isFinite(value))) return null;
  if (Array.isArray(value)) return value.map(withNulls);
  if (typeof value !== "object" || value === null) return value;
  const { low = 0, high = 0, se = 0 } = value as Partial<Estimate>;
  if (![low, high, se].every(Number.isFinite)) return null;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withNulls(part)]));
}
