// What passes between the API and whoever stores policies for it.
import type { Activation, ActivationState } from "./activation.ts";
import type { Mode, Policy } from "./policy.ts";

/** A version of the policy: immutable, and known by its content too. */
export interface PolicyVersion {
  readonly version: number;
  /** SHA-256 of the policy's JSON as parsePolicy returns it, hexadecimal. */
  readonly contentHash: string;
  /** The name of the token that made it. */
  readonly author: string;
  readonly note: string | null;
  readonly createdAtMs: number;
  /** Of the policy: what a list shows of it. Null where it cannot be read. */
  readonly mode: Mode | null;
  readonly source: string | null;
}

export const AUDIT_ACTIONS = [
  "policy.create",
  "activation.put",
  "activation.rollback",
  "kill-switch.on",
  "kill-switch.off",
  "client.forget",
  "network.forget",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who did what when. Entries are only ever added. */
export interface AuditEntry {
  readonly id: number;
  readonly atMs: number;
  /** The name of a token. */
  readonly actor: string;
  readonly action: AuditAction;
  /** That was created; of an activation see `activation`. */
  readonly version: number | null;
  readonly revision: number | null;
  /** What is in force since; null where nothing of that was changed. */
  readonly activation: ActivationState | null;
  readonly note: string | null;
}

/** A page of a list, newest first. */
export interface PageRequest {
  readonly limit: number;
  /** Numbers below this one only. */
  readonly before?: number | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** What to ask for next, as `before`; null at the end. */
  readonly next: number | null;
}

/** What If-Match asks for (RFC 9110 section 13.1.1): one of these numbers, or whatever is there. */
export type Precondition = "*" | readonly number[];

export interface Creation {
  readonly policy: Policy;
  readonly author: string;
  readonly note: string | null;
  /** Of the newest version. */
  readonly ifMatch?: Precondition | undefined;
  readonly idempotencyKey?: string | undefined;
}

export type Created =
  /** `isNew`: false where this very policy was there before. */
  | { readonly kind: "created"; readonly isNew: boolean; readonly version: PolicyVersion }
  | { readonly kind: "precondition-failed"; readonly latest: number }
  /** The idempotency key came before, with something else. */
  | { readonly kind: "key-reused" };

export interface ActivationRequest {
  readonly author: string;
  readonly note: string | null;
  /** Of the revision. */
  readonly ifMatch: Precondition;
}

export type ActivationChanged =
  | { readonly kind: "changed"; readonly activation: Activation }
  | { readonly kind: "precondition-failed"; readonly current: Activation }
  | { readonly kind: "nothing-before" }
  | { readonly kind: "no-such-version"; readonly versions: readonly number[] };
