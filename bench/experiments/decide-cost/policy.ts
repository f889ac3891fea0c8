import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { parsePolicy } from "../../../policy-api/reading/parse-policy.ts";
import type { Policy } from "../../../policy-api/core/policy.ts";
import { contentRoutes } from "../../model/content.ts";

export const POLICY_FILE = "policy-api/policies/cubic.json";

export type MeasuredPolicy = ReturnType<typeof measuredPolicy>;

/** The policy that was calibrated, with all that a decision can cost. @throws UserError where it has no gains */
export function measuredPolicy() {
  const parsed = parsePolicy(JSON.parse(readFileSync(join(ROOT, POLICY_FILE), "utf8")));
  const method = parsed.ok ? parsed.value.method : undefined;
  if (!parsed.ok || method?.kind !== "gains") throw new UserError(`${POLICY_FILE} has no gain table.`);
  const contentBytes = { default: 1_000_000, routes: contentRoutes() };
  // With exploration on, so that what it takes is in the figures.
  const policy: Policy = { ...parsed.value, mode: "adaptive", contentBytes, exploration: { share: 0.02 } };
  return { policy, table: method.table };
}
