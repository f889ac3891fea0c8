import type { GainsMethod, Policy } from "../decision/policy.ts";
import { type Expectation, expectationOf } from "./expected-gain.ts";
import type { GroundsChecked } from "./compare.ts";
import { type CellEvidence, learn } from "./learn.ts";
import { type GainChange, learntTable } from "./learnt-table.ts";
import type { Objection } from "./objections.ts";
import type { StackChange } from "./stack-change.ts";

/** A version that was in force, and what its outcomes say. */
export interface Learning {
  readonly version: number;
  readonly policy: Policy;
  readonly grounds: GroundsChecked;
  readonly evidence: readonly CellEvidence[];
  /** How many clients there are in all. In the evidence a client is in each of its cells. */
  readonly clients: number;
  readonly change: StackChange | undefined;
}

export type Proposal =
  | {
      readonly kind: "proposed";
      /** The policy with the new table. All else is as it was. */
      readonly policy: Policy;
      /** Whose pages it is learnt from, of both arms: a client counts in each of its cells. */
      readonly clients: number;
      readonly changes: readonly GainChange[];
      readonly expectation: Expectation;
    }
  /** The policy decides by something else than a gain table. */
  | { readonly kind: "no-gain-table" }
  /** No effect may be claimed: the arms are not comparable. */
  | { readonly kind: "not-comparable"; readonly objections: readonly Objection[] }
  /** The evidence is of two times, between which something changed. */
  | { readonly kind: "changed"; readonly change: StackChange }
  /** No cell has enough clients whose protocol the assignment changed. */
  | { readonly kind: "no-evidence" };

const SOURCE_MAX = 1000;

/**
 * Proposes a table: the version's own as the prior, what its clients reported as the evidence, each by its certainty. It
 * switches nothing: whoever reads it may push the policy as a new version. Pure; never throws on data.
 */
export function propose({ version, policy, grounds, evidence, clients: distinct, change }: Learning): Proposal {
  const { method } = policy;
  if (method?.kind !== "gains") return { kind: "no-gain-table" };
  if (grounds.objections.length > 0) return { kind: "not-comparable", objections: grounds.objections };
  if (change !== undefined) return { kind: "changed", change };
  const learnt = learn(method, evidence);
  const { clients } = learnt;
  if (clients === 0) return { kind: "no-evidence" };
  const { table, changes } = learntTable(method.table, learnt);
  const after: GainsMethod = { ...method, table };
  const { provenance: _, ...others } = policy;
  const source = sourceAfter(`Learnt from outcomes of version ${version}`, policy);
  return {
    kind: "proposed",
    policy: { ...others, source, method: after },
    clients,
    changes,
    expectation: expectationOf(policy, method, after, learnt, {
      evidence,
      cellsPerClient: Math.max(1, clients / distinct),
    }),
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
