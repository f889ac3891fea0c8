// What the API and the store of policies exchange.
import type { Activation, ActivationState, ActivePolicy, Cause } from "./activation.ts";
import type { Mode, Policy } from "./policy.ts";

/** A version of the policy. It is immutable, and can also be found by its content. */
export interface PolicyVersion {
  readonly version: number;
  /** SHA-256 of the policy's JSON as parsePolicy returns it, hexadecimal. */
  readonly contentHash: string;
  /** The name of the token that made it. */
  readonly author: string;
  readonly note: string | null;
  /** ISO 8601, as are all times here. */
  readonly createdAt: string;
  /** From the policy, for lists. Null if it cannot be read. */
  readonly mode: Mode | null;
  readonly source: string | null;
}

/** A version with its policy, or with why that cannot be read. */
export interface StoredVersion extends Omit<ActivePolicy, "version"> {
  readonly version: PolicyVersion;
}

export const AUDIT_ACTIONS = [
  "policy.create",
  "activation.put",
  "activation.rollback",
  "kill-switch.on",
  "kill-switch.off",
  "client.forget",
  /** Of releases that kept records of networks. */
  "network.forget",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who did what, and when. Entries are only added. */
export interface AuditEntry {
  readonly id: number;
  readonly at: string;
  /** The name of the token. */
  readonly actor: string;
  readonly action: AuditAction;
  /** The version that was created. For an activation see `activation`. */
  readonly version: number | null;
  readonly revision: number | null;
  /** What is in force since. Null if the action did not change that. */
  readonly activation: ActivationState | null;
  readonly note: string | null;
}

/** A page of a list, newest first. */
export interface PageRequest {
  readonly limit: number;
  /** Only items with numbers below this one. */
  readonly before?: number | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** `before` of the next page. Null at the end. */
  readonly next: number | null;
}

/** What If-Match asks for (RFC 9110 section 13.1.1): one of these numbers, or any. */
export type Precondition = "*" | readonly number[];

export interface Creation {
  readonly policy: Policy;
  readonly author: string;
  readonly note: string | null;
  /** The number of the newest version. */
  readonly ifMatch?: Precondition | undefined;
  readonly idempotencyKey?: string | undefined;
}

export type Created =
  /** `isNew`: false if a version already had the same policy. */
  | { readonly kind: "created"; readonly isNew: boolean; readonly version: PolicyVersion }
  | { readonly kind: "precondition-failed"; readonly latest: number }
  /** The idempotency key was used before, for something else. */
  | { readonly kind: "key-reused" };

export interface ActivationRequest {
  readonly author: string;
  readonly note: string | null;
  readonly cause?: Cause | null | undefined;
  /** The number of the revision. */
  readonly ifMatch: Precondition;
}

export type ActivationChanged =
  | { readonly kind: "changed"; readonly activation: Activation }
  | { readonly kind: "precondition-failed"; readonly current: Activation }
  | { readonly kind: "nothing-before" }
  /** Versions that do not exist, which have no fault, and versions that cannot be read. */
  | { readonly kind: "unusable-versions"; readonly versions: readonly ActivePolicy[] };
