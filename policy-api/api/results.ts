import type { OpenAPIHono } from "@hono/zod-openapi";
import { getProposal, getResults } from "./contract/results.ts";
import type { StoredVersion } from "../decision/versions.ts";
import { Gathered } from "../visitors/gathered.ts";
import { propose } from "../visitors/propose.ts";
import { learningOf, resultsOf } from "../visitors/results.ts";
import type { ApiEnv } from "./env.ts";
import { guarded } from "./guarded.ts";
import { versionOf } from "./policies.ts";
import type { PolicyApiPorts } from "./ports.ts";
import { Problem } from "./problem.ts";
import { proposalView, resultsView } from "./results-view.ts";

// What visitors' pages reported, and what follows from it.

export function addResults(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(guarded(getResults), async (c) => {
    const { outcomes, store } = c.get("ports");
    const { version, policy } = await chosenVersion(c.req.valid("query").version, store);
    const { rows, objects } = await outcomes.outcomes(version.version);
    const results = resultsOf(new Gathered(version.version, rows), policy, objects);
    const table = policy?.method?.kind === "gains" ? policy.method.table : undefined;
    return c.json(resultsView(results, table, outcomes), 200);
  });

  api.openapi(guarded(getProposal), async (c) => {
    const { outcomes, store } = c.get("ports");
    const { version, policy, fault } = await chosenVersion(c.req.valid("query").version, store);
    if (policy === undefined) throw new Problem(422, `version ${version.version} ${fault}`);
    const { rows, objects } = await outcomes.outcomes(version.version);
    const proposal = propose(learningOf(new Gathered(version.version, rows), policy));
    return c.json(proposalView(version.version, proposal, objects), 200);
  });
}

/** The version of this number, or the one that is in force for everyone. @throws Problem */
async function chosenVersion(number: number | undefined, store: PolicyApiPorts["store"]): Promise<StoredVersion> {
  if (number !== undefined) return versionOf(store, number, "/query/version");
  const activation = await store.activation();
  if (activation === undefined) throw new Problem(503, "the policy in force cannot be read: name a version");
  return versionOf(store, activation.everyone, "/query/version");
}
