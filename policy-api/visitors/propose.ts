import type { GainsMethod, Policy, Provenance } from "../decision/policy.ts";
import type { Stack } from "../decision/stack.ts";
import { prepareGains, type Worth, worthOf } from "../decision/value.ts";
import { type GroundsChecked, objectionText } from "./compare.ts";
import type { StackChange } from "./effect-changes.ts";
import { indexOf, type Part } from "./figures.ts";
import type { Estimate } from "./intervals.ts";
import { type CellEvidence, learn } from "./learn.ts";
import { type GainChange, learntTable } from "./learnt-table.ts";
import { type Beliefs, varianceOf } from "./posterior.ts";
import { stackChangeText } from "./sentence.ts";
import { clientsOf, mergeArms } from "./sums.ts";

/** A version that was in force, and what its outcomes say. */
export interface Learning {
  readonly version: number;
  readonly policy: Policy;
  readonly grounds: GroundsChecked;
  readonly evidence: readonly CellEvidence[];
  /** How many clients there are in all. In the evidence a client is in each of its cells. */
  readonly clients: number;
  readonly change: StackChange | undefined;
  /** The stack that serves. Null: not known. */
  readonly stack: Stack | null;
}

export type Proposal =
  | ({
      readonly kind: "proposed";
      /** The policy with the new table. All else is as it was. */
      readonly policy: Policy;
      /** Whose pages it is learnt from, of both arms: a client counts in each of its cells. */
      readonly clients: number;
      readonly changes: readonly GainChange[];
    } & Expectation)
  | { readonly kind: "no-gain-table" | "not-comparable" | "changed" | "no-evidence"; readonly why: string };

const SOURCE_MAX = 1000;

/**
 * Proposes a table: the version's own as the prior, what its clients reported as the evidence, each by its certainty. It
 * switches nothing: whoever reads it may push the policy as a new version. Pure; never throws on data.
 */
export function propose({ version, policy, grounds, evidence, clients: distinct, change, stack }: Learning): Proposal {
  const { method } = policy;
  if (method?.kind !== "gains") return { kind: "no-gain-table", why: "The version decides by no gain table." };
  if (grounds.objections.length > 0)
    return { kind: "not-comparable", why: grounds.objections.map(objectionText).join(" ") };
  if (change !== undefined)
    return {
      kind: "changed",
      why: `${stackChangeText(change)} Give the policy another \`source\`, push and activate it: its results begin anew.`,
    };
  const learnt = learn(method, evidence);
  const { clients } = learnt;
  if (clients === 0)
    return {
      kind: "no-evidence",
      why: "The cells of the gain table do not have 100 clients in each arm whose protocol the offer changed.",
    };
  const { table, changes } = learntTable(method.table, learnt);
  const after: GainsMethod = { ...method, table };
  const { provenance: _, ...others } = policy;
  const source = sourceAfter(`Learnt from outcomes of version ${version}`, policy);
  return {
    kind: "proposed",
    policy: { ...others, source, ...(stack === null ? {} : { provenance: taughtOn(stack, version) }), method: after },
    clients,
    changes,
    ...expectationOf(policy, method, after, learnt.after, evidence, Math.max(1, clients / distinct)),
  };
}

/** Of a table that visitors taught: the stack that serves them. No rows make it again. */
function taughtOn({ tcp, quic }: Stack, version: number): Provenance {
  return {
    stack: `the server of version ${version}'s visitors`,
    congestionControl: tcp,
    ...(quic === null ? {} : { quic }),
    command: `npm run policy -- propose ${version}`,
  };
}

/**
 * The same policy, as another version: its outcomes begin with no clients, and say what is so from now on. Pure.
 *
 * @param day Of the change, such as 2026-11-21
 */
export function begunAnew(policy: Policy, version: number, day: string): Policy {
  return { ...policy, source: sourceAfter(`Version ${version} begun anew, as something changed on ${day}`, policy) };
}

function sourceAfter(text: string, { source }: Policy): string {
  return `${text}${source === undefined ? "" : `. Before: ${source}`}`.slice(0, SOURCE_MAX);
}

/** How a new client is answered, at one RTT and size. */
export interface Turned {
  readonly rttMs: number;
  readonly contentBytes: number;
  /** The share of new clients that come here, 0 to 1. */
  readonly share: number;
  readonly answer: "offer" | "withhold";
}

export interface Expectation {
  /**
   * ln(time now / time with the new table), the mean over all page views of new clients' visits. Its interval is that of the
   * posterior, 95 %: it holds what the evidence leaves open, and not what the model of a visit does.
   */
  readonly gain: Estimate;
  /** Where the answer to a new client turns. */
  readonly turned: readonly Turned[];
}

/** Normal 95 %. */
const REACH_95 = 1.959964;

/**
 * What a new table is expected to save: where it answers a new client otherwise than the old one, the worth of that answer by
 * what is thought now. Where no answer turns, nothing is gained. Clients are taken as new ones, of the policy's mix. Pure.
 *
 * A client's cells share its path, so their errors go together, as if there were as many times fewer clients: the interval
 * is wider by the square root of that.
 */
function expectationOf(
  policy: Policy,
  before: GainsMethod,
  after: GainsMethod,
  beliefs: Beliefs,
  evidence: readonly CellEvidence[],
  cellsPerClient: number,
): Expectation {
  const { table, mix } = after;
  const fresh = evidence.filter(({ cell }) => cell.position === "new");
  const total = clientsIn(fresh);
  const ways = { before: prepareGains(before, policy), after: prepareGains(after, policy) };
  const turned: Turned[] = [];
  /** Of each figure in the value. */
  const weights = new Map<number, number>();
  let value = 0;
  let pageViews = 0;
  for (const [size, contentBytes] of table.contentBytes.entries())
    for (const [rtt, rttMs] of table.rttMs.entries()) {
      const here = fresh.filter(({ cell }) => cell.rtt === rtt && cell.size === size);
      const share = total === 0 ? 0 : clientsIn(here) / total;
      if (share === 0) continue;
      const visiting = { rttMs, contentBytes, isLater: false, paysPrice: true };
      const [old] = worthOf(ways.before, { state: "unknown" }, visiting);
      const [now] = worthOf(ways.after, { state: "unknown" }, visiting);
      pageViews += share * (1 + now.pages + now.returns);
      const [offered, offers] = [isOffered(policy, old), isOffered(policy, now)];
      if (offered === offers) continue;
      turned.push({ rttMs, contentBytes, share, answer: offers ? "offer" : "withhold" });
      const weight = offers ? share : -share;
      value += weight * (now.pages * now.next.gain + now.returns * now.return.gain - now.price);
      const add = (part: Part, loss: number, by: number): void => {
        const index = indexOf(table, { part, size, loss, rtt });
        weights.set(index, (weights.get(index) ?? 0) + weight * by);
      };
      for (const [loss, there] of mix.entries()) {
        add("next", loss, there * now.pages);
        add("return", loss, there * now.returns);
      }
      add("price", 0, -1);
    }
  const gain = pageViews > 0 ? value / pageViews : 0;
  const se = pageViews > 0 ? Math.sqrt(cellsPerClient * varianceOf(beliefs, [...weights])) / pageViews : 0;
  return { gain: { value: gain, se, low: gain - REACH_95 * se, high: gain + REACH_95 * se }, turned };
}

function clientsIn(evidence: readonly CellEvidence[]): number {
  const { offered, withheld } = clientsOf(mergeArms(evidence.map(({ arms }) => arms)));
  return offered + withheld;
}

function isOffered({ margin }: Policy, { saving }: Worth): boolean {
  return saving.gain > margin.enter;
}
