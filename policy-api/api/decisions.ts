import type { OpenAPIHono } from "@hono/zod-openapi";
import * as contract from "./contract/decisions.ts";
import { type ApiEnv, guarded } from "./authenticate.ts";
import { Problem } from "./problem.ts";
import type { Answer, Explanation, Facts, Question } from "./contract/decisions.ts";
import { type InForce, type KillSwitch, modesByPath, policyFor } from "../decision/activation.ts";
import { altSvcValue } from "../decision/alt-svc.ts";
import { decide, decideKilled, type Decision } from "../decision/decide.ts";
import type { History, RequestFacts } from "../decision/facts.ts";
import type { ClientUnits, PolicyApiPorts } from "./ports.ts";
import { silentText } from "./policies.ts";
import { historyAt } from "../decision/history.ts";
import { ANY_ORIGIN, lastQuicAtMs, NO_OFFER, offersOf, pausedUntilMs } from "../decision/offers.ts";
import type { Mode, Policy } from "../decision/policy.ts";

export function addDecisions(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(guarded(contract.decide), async (c) => {
    const { paths, port } = c.req.valid("json");
    const ports = c.get("ports");
    const nowMs = Date.now();
    const inForce = await ports.inForce();
    if (inForce === undefined) throw new Problem(503, "there is no policy that can be read");
    const decisions = await Promise.all(
      paths.map(async (facts) => {
        const units =
          facts.clientAddress === undefined ? undefined : await ports.clients.units(facts.clientAddress, nowMs);
        return answer(inForce, facts, units, nowMs, port);
      }),
    );
    return c.json({ revision: inForce.revision, decisions }, 200);
  });

  api.openapi(guarded(contract.explain), async (c) => {
    const port = Number(new URL(c.req.url).port) || 443;
    return c.json(await explain(c.req.valid("json"), c.get("ports"), Date.now(), port), 200);
  });
}

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
function finite(decision: Decision): Decision {
  return Object.fromEntries(Object.entries(decision).filter(([, value]) => isFinite(value))) as unknown as Decision;
}

/** Whether a value holds no number that is infinite or NaN. */
function isFinite(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.values(value).every(isFinite);
  return typeof value !== "number" || Number.isFinite(value);
}

/**
 * Says what the worker would decide on given facts, or for a client: by the policy in force, by a stored version, or by a
 * policy that the question holds.
 *
 * @throws Problem
 */
export async function explain(
  question: Question,
  ports: Pick<PolicyApiPorts, "store" | "clients" | "inForce">,
  nowMs: number,
  port: number,
): Promise<Explanation> {
  refuseBoth(question, "policy", "version");
  refuseBoth(question, "client", "history");
  if (question.client === undefined && question.request === undefined)
    throw notTogether("/request", "is missing: without a client there must be facts");
  const atMs = question.nowMs ?? nowMs;
  const { units, facts, history } = await aboutClient(question, ports.clients, atMs);
  const chosen = await choosePolicy(question, ports, facts.path, question.activationUnit ?? units?.activation);
  const request: RequestFacts = {
    ...facts,
    ...(chosen.modesElsewhere.length === 0 ? {} : { modesElsewhere: chosen.modesElsewhere }),
    ...(chosen.earlierOffersUntilMs === 0 ? {} : { earlierOffersUntilMs: chosen.earlierOffersUntilMs }),
    ...question.request,
  };
  const decision = finite(
    typeof chosen.speaks === "string"
      ? decideKilled(chosen.speaks, request, atMs)
      : decide(request, history, chosen.speaks, atMs, question.explorationUnit ?? units?.exploration),
  );
  return {
    revision: chosen.revision,
    policyVersion: chosen.policyVersion,
    request: { ...request, modesElsewhere: request.modesElsewhere && [...request.modesElsewhere] },
    history,
    decision,
    altSvc: altSvcValue(decision.advertise, question.port ?? port) ?? null,
  };
}

/** What is known about the client that the question names. */
async function aboutClient(
  { client, request, history: told }: Question,
  clients: PolicyApiPorts["clients"],
  nowMs: number,
): Promise<{ units: ClientUnits | undefined; facts: RequestFacts; history: History }> {
  const given: RequestFacts = request ?? { transport: "tcp", path: "/" };
  if (client === undefined) return { units: undefined, facts: given, history: told ?? { state: "unknown" } };
  const [known, units] = await Promise.all([clients.lookUp(client, request?.asn), clients.units(client, nowMs)]);
  if (known === undefined || units === undefined)
    throw Problem.ofFaults("the question is not valid", [
      { pointer: "/client", message: "must be an IPv4 or IPv6 address" },
    ]);
  const offers = known.offers ?? NO_OFFER;
  // Of the origin that it visited last. The question may say otherwise.
  const held = offers.origins[0] ?? offersOf(offers, ANY_ORIGIN);
  const history = historyAt(known, [], nowMs);
  return {
    units,
    history,
    facts: {
      offerUntilMs: held.untilMs,
      offering: held.offering,
      answeredAtMs: held.answeredAtMs,
      pausedUntilMs: pausedUntilMs(offers, lastQuicAtMs(history, nowMs)),
      shareUnit: units.share,
      ...given,
    },
  };
}

interface Chosen {
  readonly revision: number | null;
  readonly policyVersion: number | null;
  /** The kill switch decides even if the policy cannot be read. */
  readonly speaks: Policy | KillSwitch;
  readonly modesElsewhere: readonly Mode[];
  readonly earlierOffersUntilMs: number;
}

async function choosePolicy(
  { policy, version }: Question,
  ports: Pick<PolicyApiPorts, "store" | "inForce">,
  path: string,
  activationUnit: number | undefined,
): Promise<Chosen> {
  const alone = { modesElsewhere: [], earlierOffersUntilMs: 0 };
  if (policy !== undefined) return { revision: null, policyVersion: null, speaks: policy, ...alone };
  if (version !== undefined) {
    const stored = await ports.store.version(version);
    if (stored?.policy === undefined) throw notTogether("/version", stored?.fault ?? "is no known version");
    return { revision: null, policyVersion: version, speaks: stored.policy, ...alone };
  }
  const active = await ports.inForce();
  const chosen = active && policyFor(active, path, activationUnit);
  const speaks = active?.killSwitch ?? chosen?.policy;
  if (active === undefined || chosen === undefined || speaks === undefined) {
    const why = chosen === undefined ? "the policy in force cannot be read" : silentText(chosen);
    throw new Problem(503, `${why}. Send a policy along, or activate another version`);
  }
  return {
    revision: active.revision,
    policyVersion: chosen.version,
    speaks,
    modesElsewhere: modesByPath(active),
    earlierOffersUntilMs: active.earlierOffersUntilMs,
  };
}

function refuseBoth(question: Question, one: keyof Question, other: keyof Question): void {
  if (question[one] !== undefined && question[other] !== undefined)
    throw notTogether(`/${other}`, `does not go with ${one}`);
}

function notTogether(pointer: string, message: string): Problem {
  return Problem.ofFaults("the question does not hold together", [{ pointer, message, relation: true }]);
}
