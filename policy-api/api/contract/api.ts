import type { OpenAPIHono } from "@hono/zod-openapi";
import * as activation from "./activation.ts";
import { listAudit } from "./audit.ts";
import * as clients from "./clients.ts";
import { decide, explain } from "./decisions.ts";
import { getHealth } from "./health.ts";
import * as policies from "./policies.ts";
import { getProbe } from "./probe.ts";
import { getProposal, getResults } from "./results.ts";
import { getExtent, getMetrics, getStats } from "./stats.ts";

/** Every call. */
export const ROUTES = [
  getHealth,
  policies.listPolicies,
  policies.createPolicy,
  policies.getPolicy,
  policies.diffPolicies,
  activation.getActivation,
  activation.listActivations,
  activation.putActivation,
  activation.rollBack,
  activation.putKillSwitch,
  activation.deleteKillSwitch,
  decide,
  explain,
  getResults,
  getProposal,
  getStats,
  getExtent,
  getMetrics,
  getProbe,
  clients.lookUpClient,
  clients.lookUpNetwork,
  clients.forgetClient,
  clients.forgetNetwork,
  listAudit,
] as const;

declare const api: OpenAPIHono;
type Handled<Routes extends readonly unknown[]> = {
  readonly [I in keyof Routes]: { readonly route: Routes[I]; readonly handler: unknown };
};
/** What Hono's client derives its calls from. */
export type ContractApi = ReturnType<typeof api.openapiRoutes<Handled<typeof ROUTES>>>;
