import { activatePolicy } from "../../infra/workerd/policy-client.ts";
import { startWorkerd, type Workerd } from "../../infra/workerd/workerd.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { INITIAL_POLICY, type Policy } from "../../policy-api/decision/policy.ts";
import { type Arm, ARM_SETUPS, type Quic } from "../model/arm.ts";
import type { Congestion } from "../model/congestion.ts";
import { contentRoutes } from "../model/browser-pages.ts";

/** The policy API's, in every system of the bench. */
export const TOKEN = "token-of-a-bench";

/** Starts workerd, with a policy for the worker in it if one is given. It ends with `stack`. @throws UserError */
export async function startWorker(
  options: Parameters<typeof startWorkerd>[0],
  policy: object | undefined,
  stack: AsyncDisposableStack,
  fail: (why: string) => void,
): Promise<Workerd> {
  const workerd = await startWorkerd(options);
  stack.defer(() => workerd.stop());
  void workerd.failed.then(fail);
  if (policy !== undefined) await activatePolicy(workerd.visitorsSocket, TOKEN, policy);
  return workerd;
}

/** Policies of adaptive arms that have another one than the shipped one: made of that. */
export type Policies = Readonly<Partial<Record<Arm, (shipped: Policy, tcp: "cubic" | "bbr") => object>>>;

/**
 * What an arm's worker is told, where the server's TCP has this congestion control and its HTTP/3 is served by this QUIC;
 * undefined for an edge without a worker. An adaptive arm has the policy that is shipped for both, with what the bench's pages
 * transfer.
 */
export function policyOf(arm: Arm, congestion: Congestion, quic: Quic, policies: Policies = {}): object | undefined {
  const { mode } = ARM_SETUPS[arm];
  if (mode !== "adaptive") return mode && { ...INITIAL_POLICY, mode };
  // Reno reacts to loss as cubic does.
  const tcp = congestion === "bbr" ? "bbr" : "cubic";
  const policy = JSON.parse(
    readFileSync(join(ROOT, "policy-api/policies", quic === "quic-go" ? "" : quic, `${tcp}.json`), "utf8"),
  ) as Policy;
  return {
    ...(policies[arm]?.(policy, tcp) ?? policy),
    contentBytes: { default: 1_000_000, routes: contentRoutes() },
  };
}
