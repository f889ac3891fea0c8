import { lossClass, rttClass } from "../policy-api/api/counters/families.ts";
import type { Advice } from "./advise.ts";
import type { Counters } from "./counters.ts";
import type { Found } from "./look-up.ts";

/** Counts what was decided for a page, what was known of its client, and what the origin said: no more than a dozen steps. */
export function countPage(counters: Counters, found: Found, advice: Advice | undefined, status: number): void {
  counters.add("origin", { answer: status >= 500 ? "error" : "served" });
  if (advice === undefined) {
    counters.add("undecided", {});
    return;
  }
  const { decision, request, earlierOffer } = advice;
  const answer = decision.advertise.kind;
  const isLate = decision.mode === "adaptive" && found.remembered === undefined;
  counters.add("decisions", {
    reason: decision.reason,
    answer,
    arm: found.arm ?? "policy",
    transport: request.transport,
    late: isLate ? "yes" : "no",
  });
  counters.add("clients_seen", {
    rtt_ms: rttClass(decision.rttMs ?? request.rttMs),
    loss: lossClass(decision.lossRatio),
    answer,
  });
  if (earlierOffer !== undefined) counters.add("offers", { fate: earlierOffer });
}
