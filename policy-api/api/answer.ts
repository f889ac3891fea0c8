import type { Answer, Facts } from "./contract/decisions.ts";
import { type InForce, modesByPath, policyFor } from "../decision/activation.ts";
import { altSvcValue } from "../decision/alt-svc.ts";
import { decide, decideKilled, type Decision } from "../decision/decide.ts";
import type { History, RequestFacts } from "../decision/facts.ts";
import type { ClientUnits } from "./ports.ts";
import { Problem } from "./problem.ts";
import { silentText } from "./view.ts";

/** The evidence for a loss ratio that comes without packets: enough to believe it. */
const PACKETS = 1_000;

/** What the worker would answer to a client on this path. @throws Problem if the policy for the path cannot be read */
export function answer(
  inForce: InForce,
  facts: Facts,
  units: ClientUnits | undefined,
  nowMs: number,
  port: number,
): Answer {
  const active = policyFor(inForce, facts.path, units?.activation);
  const { version, policy } = active;
  const request = requestOf(facts, inForce, units, nowMs);
  const decision =
    inForce.killSwitch !== null
      ? decideKilled(inForce.killSwitch, request, nowMs)
      : policy && decide(request, historyOf(facts), policy, nowMs, units?.exploration);
  if (decision === undefined) throw new Problem(503, silentText(active));
  const { advertise, ...explained } = finite(decision);
  return {
    altSvc: altSvcValue(advertise, port) ?? null,
    maS: advertise.kind === "h3" ? advertise.maS : null,
    policyVersion: version,
    ...explained,
  };
}

function requestOf(facts: Facts, inForce: InForce, units: ClientUnits | undefined, nowMs: number): RequestFacts {
  const { transport, rttMs, deliveryRateBps, path, asn, country, offeredUntil } = facts;
  const offeredUntilMs = offeredUntil === undefined ? 0 : Date.parse(offeredUntil);
  return {
    transport,
    rttMs,
    deliveryRateBps,
    path,
    asn,
    country,
    offerUntilMs: offeredUntilMs,
    earlierOffersUntilMs: inForce.earlierOffersUntilMs,
    offering: offeredUntilMs > nowMs,
    shareUnit: units?.share,
    modesElsewhere: modesByPath(inForce),
  };
}

/** A caller that measured a loss has a connection that shows it. */
function historyOf({ transport, rttMs, lossRatio, packets = PACKETS, deliveryRateBps }: Facts): History {
  if (lossRatio === undefined) return { state: "unknown" };
  const connection = { transport, ageMs: 0, packets, lost: lossRatio * packets, rttMs, deliveryRateBps };
  return { state: "known", connections: [connection] };
}

/** A decision without the figures that JSON cannot write, which come from absurd facts. */
export function finite(decision: Decision): Decision {
  return Object.fromEntries(Object.entries(decision).filter(([, value]) => isFinite(value))) as unknown as Decision;
}

/** Whether a value holds no number that is infinite or NaN. */
function isFinite(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.values(value).every(isFinite);
  return typeof value !== "number" || Number.isFinite(value);
}
