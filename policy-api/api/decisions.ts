import type { OpenAPIHono } from "@hono/zod-openapi";
import * as contract from "./contract/decisions.ts";
import { type ApiEnv, guarded } from "./authenticate.ts";
import { Problem } from "./problem.ts";
import { type InForce, type KillSwitch, modesByPath, policyFor } from "../decision/activation.ts";
import { altSvcValue } from "../decision/alt-svc.ts";
import { decide, decideKilled, type Decision } from "../decision/decide.ts";
import type { History, RequestFacts } from "../decision/facts.ts";
import type { ClientUnits, PolicyApiPorts } from "./ports.ts";
import { silentText } from "./policies.ts";
import { historyAt } from "../decision/history.ts";
import { ANY_ORIGIN, lastQuicAtMs, NO_OFFER, offersOf, pausedUntilMs } from "../decision/offers.ts";
import type { Policy } from "../decision/policy.ts";

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
function answer(
  inForce: InForce,
  facts: contract.Facts,
  units: ClientUnits | undefined,
  nowMs: number,
  port: number,
): contract.Answer {
  const { path, offeredUntil } = facts;
  const { version, speaks } = speaking(inForce, path, units?.activation);
  const offerUntilMs = offeredUntil === undefined ? 0 : Date.parse(offeredUntil);
  const request: RequestFacts = {
    ...facts,
    offerUntilMs,
    earlierOffersUntilMs: inForce.earlierOffersUntilMs,
    offering: offerUntilMs > nowMs,
    shareUnit: units?.share,
    modesElsewhere: modesByPath(inForce),
  };
  const { advertise, ...explained } = decisionOf(speaks, request, historyOf(facts), nowMs, units?.exploration);
  return {
    altSvc: altSvcValue(advertise, port) ?? null,
    maS: advertise.kind === "h3" ? advertise.maS : null,
    policyVersion: version,
    ...explained,
  };
}

/** What decides for a client on a path: the kill switch, even if the policy cannot be read, else the policy. @throws Problem */
function speaking(inForce: InForce, path: string, unit: number | undefined, instead = "") {
  const active = policyFor(inForce, path, unit);
  const speaks = inForce.killSwitch ?? active.policy;
  if (speaks === undefined) throw new Problem(503, silentText(active) + instead);
  return { version: active.version, speaks };
}

function decisionOf(
  speaks: Policy | KillSwitch,
  request: RequestFacts,
  history: History,
  nowMs: number,
  explorationUnit: number | undefined,
): Decision {
  const decision =
    typeof speaks === "string"
      ? decideKilled(speaks, request, nowMs)
      : decide(request, history, speaks, nowMs, explorationUnit);
  return finite(decision);
}

/** A caller that measured a loss has a connection that shows it. */
function historyOf({ transport, rttMs, lossRatio, packets = PACKETS, deliveryRateBps }: contract.Facts): History {
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
  question: contract.Question,
  ports: Pick<PolicyApiPorts, "store" | "clients" | "inForce">,
  nowMs: number,
  port: number,
): Promise<contract.Explanation> {
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
  const unit = question.explorationUnit ?? units?.exploration;
  const decision = decisionOf(chosen.speaks, request, history, atMs, unit);
  const valueOf = ({ advertise }: Decision): string | null => altSvcValue(advertise, question.port ?? port) ?? null;
  const undrawn =
    decision.reason === "exploration" ? decisionOf(chosen.speaks, request, history, atMs, undefined) : undefined;
  return {
    revision: chosen.revision,
    policyVersion: chosen.policyVersion,
    request,
    history,
    decision,
    altSvc: valueOf(decision),
    ...(undrawn === undefined ? {} : { undrawn: { reason: undrawn.reason, altSvc: valueOf(undrawn) } }),
  };
}

/** What is known about the client that the question names. */
async function aboutClient(
  { client, request, history: given }: contract.Question,
  clients: PolicyApiPorts["clients"],
  nowMs: number,
): Promise<{ units?: ClientUnits; facts: RequestFacts; history: History }> {
  const asked: RequestFacts = request ?? { transport: "tcp", path: "/" };
  if (client === undefined) return { facts: asked, history: given ?? { state: "unknown" } };
  const [known, units] = await Promise.all([clients.lookUp(client), clients.units(client, nowMs)]);
  if (known === undefined || units === undefined)
    throw Problem.ofFaults("the question is not valid", [
      { pointer: "/client", message: "must be an IPv4 or IPv6 address" },
    ]);
  const offers = known.offers ?? NO_OFFER;
  // Of the origin that it visited last. The question may say otherwise.
  const lastOffer = offers.origins[0] ?? offersOf(offers, ANY_ORIGIN);
  const history = historyAt(known, [], nowMs);
  return {
    units,
    history,
    facts: {
      offerUntilMs: lastOffer.untilMs,
      offering: lastOffer.offering,
      answeredAtMs: lastOffer.answeredAtMs,
      pausedUntilMs: pausedUntilMs(offers, lastQuicAtMs(history, nowMs)),
      shareUnit: units.share,
      ...asked,
    },
  };
}

/** What decides, and under which numbers. The kill switch decides even if the policy cannot be read. */
async function choosePolicy(
  { policy, version }: contract.Question,
  ports: Pick<PolicyApiPorts, "store" | "inForce">,
  path: string,
  activationUnit: number | undefined,
) {
  const alone = { modesElsewhere: [], earlierOffersUntilMs: 0 };
  if (policy !== undefined) return { revision: null, policyVersion: null, speaks: policy, ...alone };
  if (version !== undefined) {
    const stored = await ports.store.version(version);
    if (stored?.policy === undefined) throw notTogether("/version", stored?.fault ?? "is no known version");
    return { revision: null, policyVersion: version, speaks: stored.policy, ...alone };
  }
  const inForce = await ports.inForce();
  const instead = ". Send a policy along, or activate another version";
  if (inForce === undefined) throw new Problem(503, `the policy in force cannot be read${instead}`);
  const { revision, earlierOffersUntilMs } = inForce;
  const { version: policyVersion, speaks } = speaking(inForce, path, activationUnit, instead);
  return { revision, policyVersion, speaks, modesElsewhere: modesByPath(inForce), earlierOffersUntilMs };
}

function refuseBoth(question: contract.Question, one: keyof contract.Question, other: keyof contract.Question): void {
  if (question[one] !== undefined && question[other] !== undefined)
    throw notTogether(`/${other}`, `does not go with ${one}`);
}

function notTogether(pointer: string, message: string): Problem {
  return Problem.ofFaults("the question does not hold together", [{ pointer, message, relation: true }]);
}
