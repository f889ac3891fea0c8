import { readFileSync } from "node:fs";
import { join } from "node:path";
import { INITIAL_POLICY, type Policy } from "../../policy-api/core/policy.ts";
import { ROOT } from "../../base/root.ts";

/** The congestion control that the edge's TCP has, unless it is told another one; "" where the kernel does not say. */
export function systemCongestionControl(): string {
  try {
    return readFileSync("/proc/sys/net/ipv4/tcp_congestion_control", "utf8").trim();
  } catch {
    return "";
  }
}

/** Policies that were calibrated for this edge, by congestion control. Reno yields to loss as cubic does. */
const CALIBRATED: Readonly<Record<string, string>> = { cubic: "cubic.json", reno: "cubic.json", bbr: "bbr.json" };

/**
 * The policy that a demonstration begins with: the one that was calibrated for this edge with the machine's congestion
 * control, but for clients of whom nothing is known: they are offered HTTP/3, to show what an offer looks like. What nobody
 * has measured is observed.
 */
export function firstPolicy(congestionControl: string): Policy {
  const file = Object.hasOwn(CALIBRATED, congestionControl) ? CALIBRATED[congestionControl] : undefined;
  if (file === undefined) return INITIAL_POLICY;
  const policy = JSON.parse(readFileSync(join(ROOT, "policy-api/policies", file), "utf8")) as Policy;
  return { ...policy, coldStart: { advertise: "h3" } };
}
