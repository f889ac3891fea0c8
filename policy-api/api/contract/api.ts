import type { OpenAPIHono, RouteConfig, z } from "@hono/zod-openapi";
import * as decisions from "./decisions.ts";
import * as deployment from "./deployment.ts";
import * as policies from "./policies.ts";
import * as results from "./results.ts";
import { API_PATH, type Scope } from "./access.ts";

/** Every call. */
const ROUTES = [
  deployment.getHealth,
  policies.listPolicies,
  policies.createPolicy,
  policies.getPolicy,
  policies.diffPolicies,
  policies.getActivation,
  policies.listActivations,
  policies.putActivation,
  policies.rollBack,
  policies.putKillSwitch,
  policies.deleteKillSwitch,
  decisions.decide,
  decisions.explain,
  results.getResults,
  results.getProposal,
  deployment.getStats,
  deployment.getExtent,
  deployment.getMetrics,
  deployment.getProbe,
  decisions.lookUpClient,
  decisions.forgetClient,
  policies.listAudit,
] as const;

declare const api: OpenAPIHono;
type Handled<Routes extends readonly unknown[]> = {
  readonly [I in keyof Routes]: { readonly route: Routes[I]; readonly handler: unknown };
};
/** What Hono's client derives its calls from. */
export type ContractApi = ReturnType<typeof api.openapiRoutes<Handled<typeof ROUTES>>>;

/** What a caller needs to know about a route at run time. */
interface Route extends Pick<RouteConfig, "responses"> {
  /** Absent where no token is needed. */
  readonly scope?: Scope;
}

/** The route of a request. @throws Error for a request that the contract does not have */
export function routeOf(method: string, path: string): Route {
  const found = ROUTES.find(
    (route) =>
      route.method === method.toLowerCase() &&
      new RegExp(`^${API_PATH}${route.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path),
  );
  if (found === undefined) throw new Error(`The contract has no ${method} ${path}.`);
  return found;
}

/** Whether the contract has this reply under this status. A refusal is not a reply in this sense. */
export function isReplyOf({ responses }: Route, status: number, body: unknown): boolean {
  const documented = responses[status] as { content?: Record<string, { schema: z.ZodType }> } | undefined;
  const schema = documented?.content?.["application/json"]?.schema;
  return schema !== undefined && hasShape(schema, body);
}

/**
 * Whether a value has the shape of a schema: every field is there, and of its type. Bounds, patterns, unknown fields and
 * unknown names do not count, as a newer server may say more.
 */
export function hasShape<T>(schema: z.ZodType<T>, value: unknown): value is T {
  return schema.safeParse(value, { reportInput: true }).error?.issues.some(isMisshapen) !== true;
}

function isMisshapen(issue: z.core.$ZodIssue): boolean {
  switch (issue.code) {
    case "invalid_type":
      return true;
    case "invalid_value":
      return typeof issue.input !== "string";
    case "invalid_union":
      return issue.errors.every((issues) => issues.some(isMisshapen));
    default:
      return false;
  }
}
