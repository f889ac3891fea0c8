import { altSvcValue } from "../core/alt-svc.ts";
import { decide, type Decision } from "../core/decide.ts";
import type { PathEstimate, TransportEstimate } from "../core/estimate.ts";
import type { History, RequestFacts } from "../core/facts.ts";
import {
  boolean,
  type Fault,
  integer,
  number,
  object,
  oneOf,
  optional,
  parse,
  type Parsed,
  type Reader,
  text,
  withDefault,
} from "../core/parse.ts";
import { parsePolicy } from "../core/parse-policy.ts";
import type { Policy } from "../core/policy.ts";
import { TRANSPORTS } from "../core/sample.ts";
import type { PolicyStorePort } from "./ports.ts";

/** A question: what would be decided on these facts, under the policy in force or the one given here? */
interface Question {
  readonly request: RequestFacts;
  readonly history: History;
  readonly policy?: Policy;
  readonly nowMs?: number;
  readonly explorationUnit: number;
  /** The port that the Alt-Svc value would name. */
  readonly port?: number;
}

export interface Explanation {
  /** Null when the question brought a policy of its own. */
  readonly policyVersion: number | null;
  readonly decision: Decision;
  /** The header's value; null for none. */
  readonly altSvc: string | null;
}

const any = number(0, Number.MAX_VALUE);

const readEstimate = object<PathEstimate>({
  tcp: optional(readTransport()),
  quic: optional(readTransport()),
});

function readTransport(): Reader<TransportEstimate> {
  return object<TransportEstimate>({
    minRttMs: optional(any),
    lossRatio: optional(number(0, 1)),
    packets: withDefault(any, 1_000),
    deliveryRateBps: optional(any),
    ageMs: withDefault(any, 0),
    changedMsAgo: optional(any),
  });
}

const readPolicy: Reader<Policy> = (value, pointer, faults) => {
  const parsed = parsePolicy(value);
  if (parsed.ok) return parsed.value;
  faults.push(...parsed.faults.map((fault): Fault => ({ ...fault, pointer: pointer + fault.pointer })));
  return undefined as never;
};

const readQuestion = object<Question>({
  request: object<RequestFacts>({
    transport: oneOf(...TRANSPORTS),
    rttMs: optional(any),
    deliveryRateBps: optional(any),
    path: withDefault(text(8_000, /^\//, "a path that begins with /,"), "/"),
    asn: optional(integer(0, 4_294_967_295)),
    country: optional(text(2, /^[A-Z]{2}$/, "a country code such as JP,")),
    offerUntilMs: optional(any),
    offering: optional(boolean()),
    pausedUntilMs: optional(any),
    shareUnit: optional(number(0, 1)),
  }),
  history: withDefault(
    object<History>({
      state: oneOf("known", "unknown", "late"),
      client: optional(readEstimate),
      network: optional(readEstimate),
      asn: optional(readEstimate),
    }),
    { state: "unknown" },
  ),
  policy: optional(readPolicy),
  nowMs: optional(any),
  explorationUnit: withDefault(number(0, 1), 1),
  port: optional(integer(1, 65_535)),
});

/**
 * Answers a question, or names its faults. Rejects only when the store does not answer.
 *
 * @param nowMs The time, where the question names none.
 * @param port The port of the answer's Alt-Svc, where the question names none.
 */
export async function explain(
  input: unknown,
  store: PolicyStorePort,
  nowMs: number,
  port: number,
): Promise<Parsed<Explanation>> {
  const parsed = parse(readQuestion, input);
  if (!parsed.ok) return parsed;
  const question = parsed.value;
  const inForce = question.policy === undefined ? await store.current() : undefined;
  const policy = question.policy ?? inForce?.policy;
  if (policy === undefined)
    return { ok: false, faults: [{ pointer: "/policy", message: "is missing, and the stored policy cannot be read" }] };
  const decision = decide(
    question.request,
    question.history,
    policy,
    question.nowMs ?? nowMs,
    question.explorationUnit,
  );
  const altSvc = altSvcValue(decision.advertise, question.port ?? port) ?? null;
  return { ok: true, value: { policyVersion: inForce?.version ?? null, decision, altSvc } };
}
