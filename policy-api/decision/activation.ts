import { MA_MAX_S, type Mode, type Policy, POLICY_OUTDATED_MS } from "./policy.ts";

/**
 * `fixed-h2`: nobody is offered HTTP/3, and clients that may hold an offer get a `clear`. `clear`: every page says it.
 */
export type KillSwitch = "fixed-h2" | "clear";
export const KILL_SWITCHES = ["fixed-h2", "clear"] as const satisfies readonly KillSwitch[];

/** A version for some requests: for a share of clients, under a path, or both. */
export interface Stage {
  readonly version: number;
  /** 0 to 1: for clients whose activation unit is below it. */
  readonly share: number;
  /** Of the document's path. Absent: all paths. */
  readonly pathPrefix?: string | undefined;
}
export const STAGES_MAX = 8;

/** Which version of the policy is for whom: that of the first stage that matches, else `everyone`. */
export interface ActivationState {
  /** A version. Version 0 is what a store has at first: observe. */
  readonly everyone: number;
  readonly stages: readonly Stage[];
  readonly killSwitch: KillSwitch | null;
}

export const AUTOPILOT_STEPS = ["tries", "widens", "takes-back", "ends-trial", "begins-anew"] as const;

/** What the autopilot did, and to which version. Only a token of its own scope can say so: the autopilot rests on it later. */
export interface Cause {
  readonly step: (typeof AUTOPILOT_STEPS)[number];
  readonly version: number;
}

/** One revision of the activation. Revisions are only added. The newest is in force. */
export interface Activation extends ActivationState {
  readonly revision: number;
  /** The name of the token that made it. */
  readonly author: string;
  readonly note: string | null;
  /** Null: it is not the autopilot's. */
  readonly cause: Cause | null;
  /** ISO 8601. */
  readonly at: string;
  /** What a rollback returns to. Null at the beginning. */
  readonly previousRevision: number | null;
}

/** Nobody has activated anything. */
export const INITIAL_ACTIVATION: Activation = {
  revision: 0,
  everyone: 0,
  stages: [],
  killSwitch: null,
  author: "initial",
  note: null,
  cause: null,
  at: "1970-01-01T00:00:00.000Z",
  previousRevision: null,
};

export type ActivationChange =
  | { readonly kind: "put"; readonly everyone: number; readonly stages: readonly Stage[] }
  | { readonly kind: "rollback" }
  | { readonly kind: "kill-switch"; readonly to: KillSwitch | null };

/**
 * The activation after a change. Undefined if a rollback has nothing to return to. Pure.
 *
 * A second rollback returns to what was before the target of the first: two rollbacks undo two changes.
 *
 * @param revision Looks up an earlier revision.
 */
export function changed(
  current: Activation,
  change: ActivationChange,
  revision: (number: number) => Activation | undefined,
): (ActivationState & Pick<Activation, "previousRevision">) | undefined {
  const { everyone, stages, killSwitch, revision: previousRevision } = current;
  switch (change.kind) {
    case "put":
      return { everyone: change.everyone, stages: change.stages, killSwitch, previousRevision };
    case "kill-switch":
      return { everyone, stages, killSwitch: change.to, previousRevision };
    case "rollback": {
      const target = current.previousRevision === null ? undefined : revision(current.previousRevision);
      return target && stateOf(target);
    }
  }
}

function stateOf({ everyone, stages, killSwitch, previousRevision }: Activation) {
  return { everyone, stages, killSwitch, previousRevision };
}

/** Whether two states say the same. */
export function isSameState(a: ActivationState, b: ActivationState): boolean {
  const text = ({ everyone, killSwitch, stages }: ActivationState): string =>
    JSON.stringify([
      everyone,
      killSwitch,
      stages.map(({ version, share, pathPrefix }) => [version, share, pathPrefix]),
    ]);
  return text(a) === text(b);
}

/**
 * A version with its policy. If the stored policy cannot be read, it is absent, and responses say nothing about HTTP/3.
 */
export interface ActivePolicy {
  readonly version: number;
  readonly policy?: Policy | undefined;
  /** Why the policy cannot be read, as the end of a sentence. */
  readonly fault?: string | undefined;
}

/** An activation with everything that a worker needs to obey it. */
export interface InForce {
  readonly revision: number;
  /** Since when it is in force, milliseconds since the epoch. */
  readonly sinceMs: number;
  readonly everyone: ActivePolicy;
  readonly stages: readonly (Omit<Stage, "version"> & ActivePolicy)[];
  readonly killSwitch: KillSwitch | null;
  /**
   * Until when a client may hold an offer made under an earlier revision, milliseconds since the epoch. (RFC 7838: an
   * offer lives until its `ma` ends, even if later responses have no Alt-Svc.)
   */
  readonly earlierOffersUntilMs: number;
}

/** The versions that an activation names. */
export function versionsOf({ everyone, stages }: ActivationState): readonly number[] {
  return [...new Set([everyone, ...stages.map(({ version }) => version)])];
}

/** Whether the policy for a document depends on the client. Then the client's unit has to be drawn. */
export function dependsOnClient({ stages }: Pick<InForce, "stages">, path: string): boolean {
  const first = stages.find((stage) => stage.share > 0 && matchesPath(stage, path));
  return first !== undefined && first.share < 1;
}

/**
 * The policy for a document and a client.
 *
 * All stages and revisions use the same unit. So a client stays in a share when the version changes, and when the share
 * grows.
 *
 * @param unit 0 to 1, uniform over clients and constant for a client. Undefined if clients cannot be told apart: then
 *   they are in no share below 1.
 */
export function policyFor(
  inForce: Pick<InForce, "everyone" | "stages">,
  path: string,
  unit: number | undefined,
): ActivePolicy {
  return (
    inForce.stages.find((stage) => matchesPath(stage, path) && (stage.share >= 1 || (unit ?? 1) < stage.share)) ??
    inForce.everyone
  );
}

function matchesPath({ pathPrefix }: Pick<Stage, "pathPrefix">, path: string): boolean {
  return pathPrefix === undefined || path.startsWith(pathPrefix);
}

/**
 * The modes of all policies in force, if one client meets several policies on different paths; else empty. `decide`
 * takes them as `modesElsewhere`.
 */
export function modesByPath({ everyone, stages }: Pick<InForce, "everyone" | "stages">): readonly Mode[] {
  if (!stages.some(({ pathPrefix }) => pathPrefix !== undefined)) return [];
  return [...new Set([everyone, ...stages].flatMap(({ policy }) => (policy === undefined ? [] : modesOf(policy))))];
}

/**
 * Until when offers made under this activation may live if it ends now, milliseconds since the epoch. Isolates that
 * have not heard of the end still make offers.
 */
export function offersEndMs(inForce: InForce, nowMs: number): number {
  const ends = [inForce.everyone, ...inForce.stages].map(({ policy }) => {
    if (inForce.killSwitch !== null) return 0;
    if (policy === undefined) return nowMs + POLICY_OUTDATED_MS + OFFER_LONGEST_MS;
    const offers = modesOf(policy).some((mode) => mode === "fixed-h3" || mode === "adaptive");
    return offers ? nowMs + POLICY_OUTDATED_MS + policy.ma.maxS * 1000 : 0;
  });
  return Math.max(inForce.earlierOffersUntilMs, ...ends);
}

/** The longest life that any policy can give an offer: assumed for a policy that cannot be read. */
export const OFFER_LONGEST_MS = MA_MAX_S * 1000;

function modesOf(policy: Policy): readonly Mode[] {
  return [policy.mode, ...policy.rules.map((rule) => rule.mode)];
}
