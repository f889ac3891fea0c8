import { decide } from "../../../policy-api/core/decide.ts";
import { applySamples } from "../../../policy-api/core/estimator.ts";
import type { RequestFacts } from "../../../policy-api/core/facts.ts";
import { historyAt } from "../../../policy-api/core/history.ts";
import type { Policy } from "../../../policy-api/core/policy.ts";
import { type PathSample, TRANSPORTS } from "../../../policy-api/core/sample.ts";
import { documentOf } from "../../model/content.ts";
import type { NavigationRow } from "./row.ts";

/**
 * Whether the policy's answer to a client that was measured so depends on what it was answered before: the saving lies
 * between the thresholds to leave and to enter. There either answer is right, and a client that comes from another path
 * keeps the one it has: that is what hysteresis is for.
 */
export function dependsOnAnswerBefore(policy: Policy, row: NavigationRow): boolean {
  const nowMs = row.startedMs + 60_000;
  const samples = TRANSPORTS.map((transport): PathSample => ({
    transport,
    connectionId: row.id,
    atMs: row.startedMs,
    closing: true,
    minRttMs: row[`${transport}MinRttMs`] ?? undefined,
    packetsSent: row[`${transport}PacketsSent`] ?? 0,
    packetsLost: row[`${transport}PacketsLost`] ?? 0,
    bytesSent: row.imageBytes,
    deliveryRateBps: row[`${transport}DeliveryRateBps`] ?? undefined,
  }));
  const history = historyAt({ client: applySamples({}, samples) }, [], nowMs);
  const request: RequestFacts = {
    transport: "tcp",
    rttMs: row.tcpMinRttMs ?? undefined,
    path: documentOf(row.imageBytes),
  };
  const offers = (before: Partial<RequestFacts>): boolean =>
    decide({ ...request, ...before }, history, policy, nowMs, undefined).advertise.kind === "h3";
  return offers({ offering: true, offerUntilMs: nowMs + 1 }) !== offers({});
}
