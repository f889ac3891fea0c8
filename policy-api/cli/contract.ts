// What the API answers, as far as the command line reads it.
import type { KillSwitch, Stage } from "../core/activation.ts";
import type { Decision } from "../core/decide.ts";
import type { PathEstimate } from "../core/estimate.ts";
import type { History, RequestFacts } from "../core/facts.ts";
import type { OfferState } from "../core/offers.ts";
import { type Check, having, isBoolean, isNumber, isText, listOf, orAbsent, orNull } from "./shape.ts";

const TRANSPORT: Readonly<Record<string, Check>> = {
  packets: isNumber,
  ageMs: isNumber,
  minRttMs: orAbsent(isNumber),
  lossRatio: orAbsent(isNumber),
  deliveryRateBps: orAbsent(isNumber),
};

export interface Health {
  readonly status: string;
  readonly policy: string;
  readonly revision: number | null;
  readonly settings: readonly { readonly name: string; readonly message: string }[];
}
export const isHealth = having({
  status: isText,
  policy: isText,
  revision: orNull(isNumber),
  settings: listOf(having({ name: isText, message: isText })),
});

export interface PolicyVersion {
  readonly version: number;
  readonly contentHash: string;
  readonly author: string;
  readonly note: string | null;
  readonly createdAt: string;
  /** Null of a policy that the server cannot read. */
  readonly mode: string | null;
  readonly source: string | null;
}
const VERSION: Readonly<Record<string, Check>> = {
  version: isNumber,
  contentHash: isText,
  author: isText,
  note: orNull(isText),
  createdAt: isText,
  mode: orNull(isText),
};
export const isPolicyVersion = having(VERSION);

export interface StoredPolicy extends PolicyVersion {
  /** As it was stored: parsePolicy reads it. Null where the server cannot. */
  readonly policy: unknown;
}
export const isStoredPolicy = having({ ...VERSION, policy: orNull(having({})) });

export interface PolicyPage {
  readonly policies: readonly PolicyVersion[];
  readonly next: number | null;
}
export const isPolicyPage = having({ policies: listOf(isPolicyVersion), next: orNull(isNumber) });

export interface Activation {
  readonly revision: number;
  /** A version; 0 is the initial policy: observe. */
  readonly everyone: number;
  /** The first that matches counts. */
  readonly stages: readonly Stage[];
  readonly killSwitch: KillSwitch | null;
  readonly author: string;
  readonly note: string | null;
  readonly at: string;
  /** What a rollback returns to. */
  readonly previousRevision: number | null;
}
const STATE: Readonly<Record<string, Check>> = {
  everyone: isNumber,
  stages: listOf(having({ version: isNumber, share: isNumber, pathPrefix: orAbsent(isText) })),
  killSwitch: orNull(isText),
};
export const isActivation = having({
  ...STATE,
  revision: isNumber,
  author: isText,
  note: orNull(isText),
  at: isText,
  previousRevision: orNull(isNumber),
});

export interface ActivationPage {
  readonly activations: readonly Activation[];
  readonly next: number | null;
}
export const isActivationPage = having({ activations: listOf(isActivation), next: orNull(isNumber) });

export interface AuditEntry {
  readonly id: number;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly version?: number | null;
  readonly revision?: number | null;
  /** What is in force since. */
  readonly activation?: Pick<Activation, "everyone" | "stages" | "killSwitch"> | null;
  readonly note?: string | null;
}
export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  readonly next: number | null;
}
export const isAuditPage = having({
  entries: listOf(
    having({
      id: isNumber,
      at: isText,
      actor: isText,
      action: isText,
      version: orAbsent(orNull(isNumber)),
      revision: orAbsent(orNull(isNumber)),
      activation: orAbsent(orNull(having(STATE))),
      note: orAbsent(orNull(isText)),
    }),
  ),
  next: orNull(isNumber),
});

export interface Explanation {
  readonly policyVersion: number | null;
  readonly revision: number | null;
  readonly request: RequestFacts;
  readonly history: History;
  readonly decision: Decision;
  readonly altSvc: string | null;
}
export const isExplanation = having({
  policyVersion: orNull(isNumber),
  altSvc: orNull(isText),
  request: having({}),
  history: having({ state: isText }),
  decision: having({
    mode: isText,
    reason: isText,
    propensity: isNumber,
    path: orAbsent(having({ rttMs: isNumber, lossRatio: isNumber, deliveryRateBps: isNumber })),
    predicted: orAbsent(
      having({ stayMs: isNumber, switchMs: isNumber, coldMs: isNumber, contentBytes: isNumber, clamped: isBoolean }),
    ),
    saving: orAbsent(isNumber),
    savingLow: orAbsent(isNumber),
    savingHigh: orAbsent(isNumber),
  }),
});

/** What is remembered, by whose it is, and the offers made to the client. */
export interface Known {
  readonly known: boolean;
  readonly client?: PathEstimate;
  readonly network?: PathEstimate;
  readonly asn?: PathEstimate;
  readonly offers?: Omit<OfferState, "answeredAtMs">;
}
const isEstimate = orAbsent(having({ tcp: orAbsent(having(TRANSPORT)), quic: orAbsent(having(TRANSPORT)) }));
export const isKnown = having({
  known: isBoolean,
  client: isEstimate,
  network: isEstimate,
  asn: isEstimate,
  offers: orAbsent(having({ untilMs: isNumber, takenAtMs: isNumber, ignoredAtMs: listOf(isNumber) })),
});

export interface Forgotten {
  readonly forgotten: number;
}
export const isForgotten = having({ forgotten: isNumber });
