import { drawnArm } from "../policy-api/decision/decide.ts";
import { ownLoss } from "../policy-api/decision/belief.ts";
import { lossClass, rttClass } from "../policy-api/api/counters/families.ts";
import type { Advice } from "./advise.ts";
import type { Isolate } from "./isolate.ts";
import { activeFor, type Found } from "./look-up.ts";

/** Counts what was decided for a page, what was known of its client, and what the origin said: no more than a dozen steps. */
export function countPage({ counters }: Isolate, advice: Advice | undefined, found: Found, status: number): void {
  counters.add("origin", { answer: status >= 500 ? "error" : "served" });
  if (advice === undefined) {
    counters.add("undecided", {});
    return;
  }
  const { decision, request, earlierOffer } = advice;
  const answer = decision.advertise.kind;
  const isAdaptive = decision.mode === "adaptive";
  const policy = activeFor(found)?.policy;
  const arm = isAdaptive && policy !== undefined ? drawnArm(policy, found.explorationUnit) : undefined;
  const late = isAdaptive && found.remembered === undefined;
  counters.add("decisions", {
    reason: decision.reason,
    answer,
    arm: arm ?? "policy",
    transport: request.transport,
    late: late ? "yes" : "no",
  });
  counters.add("clients_seen", {
    rtt_ms: rttClass(decision.rttMs ?? request.rttMs),
    loss: lossClass(decision.belief && ownLoss(decision.belief)),
    answer,
  });
  if (earlierOffer !== undefined) counters.add("offers", { fate: earlierOffer });
}
