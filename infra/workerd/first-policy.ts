import { readFileSync } from "node:fs";
import { join } from "node:path";
import { INITIAL_POLICY, type Policy } from "../../policy-api/decision/policy.ts";
import { ROOT } from "../../base/root.ts";

/** The policies calibrated for this edge, by congestion control. Reno gets cubic's, which policy-api/decision/stack.ts takes for its own. */
const CALIBRATED: Readonly<Record<string, string>> = { cubic: "cubic.json", reno: "cubic.json", bbr: "bbr.json" };

/** Each page of a demonstration reports how long it took. */
const REPORTS: Policy["reports"] = { share: 1, inject: true };

/**
 * The policy that a demonstration starts with: as shipped, the one calibrated for this edge with the congestion control of its TCP. Its
 * pages report how long they took. With a congestion control that nobody has measured, the demonstration starts in observe.
 */
export function firstPolicy(congestionControl: string): Policy {
  const file = Object.hasOwn(CALIBRATED, congestionControl) ? CALIBRATED[congestionControl] : undefined;
  return { ...(file === undefined ? INITIAL_POLICY : calibrated(file)), reports: REPORTS };
}

/** So many clients draw: of each demonstration network 100 in each arm within two minutes, and enough who get the policy's own answer. */
export const DRAWN = 0.7;

/** The same for visitors who are not there: the one for cubic. Most of them draw, so that there is an effect to see. */
export function firstPolicyForVisitors(): Policy {
  return {
    ...emulatedPolicy(),
    source: "as by a server with cubic; most clients draw, to compare both",
    exploration: { share: DRAWN },
    reports: REPORTS,
  };
}

/**
 * For pages that are decided as if on another network: the one for cubic, which offers to most of them. They report nothing: what they
 * take says nothing about that network. Their server is as emulated as their network, so the policy names no stack to compare with what serves.
 */
export function emulatedPolicy(): Policy {
  const { provenance: _, ...policy } = calibrated("cubic.json");
  return { ...policy, source: "as by a server with cubic, for pages as if on another network" };
}

function calibrated(file: string): Policy {
  return JSON.parse(readFileSync(join(ROOT, "policy-api/policies", file), "utf8")) as Policy;
}
