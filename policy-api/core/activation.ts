import type { Mode, Policy } from "./policy.ts";
import { MA_MAX_S, POLICY_OUTDATED_MS } from "./policy.ts";

/** `fixed-h2`: HTTP/3 is offered to nobody, and taken back where it may be held. `clear`: taken back on every page. */
export type KillSwitch = "fixed-h2" | "clear";
export const KILL_SWITCHES = ["fixed-h2", "clear"] as const satisfies readonly KillSwitch[];

/** A version for some: for a share of clients, under a path, or both. */
export interface Stage {
  readonly version: number;
  /** 0 to 1: clients whose activation unit is below it. */
  readonly share: number;
  /** Of the document's path; absent: all paths. */
  readonly pathPrefix?: string | undefined;
}
export const STAGES_MAX = 8;

/** Which version of the policy is for whom. The first stage that matches counts, else `everyone`. */
export interface ActivationState {
  /** A version; 0 is the policy of a store in which nobody has put one: observe. */
  readonly everyone: number;
  readonly stages: readonly Stage[];
  readonly killSwitch: KillSwitch | null;
}

/** One revision of the activation. Revisions are only ever added; the newest is in force. */
export interface Activation extends ActivationState {
  readonly revision: number;
  /** The name of the token that made it. */
  readonly author: string;
  readonly note: string | null;
  readonly atMs: number;
  /** What a rollback returns to; null at the beginning. */
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
  atMs: 0,
  previousRevision: null,
};

export type ActivationChange =
  | { readonly kind: "put"; readonly everyone: number; readonly stages: readonly Stage[] }
  | { readonly kind: "rollback" }
  | { readonly kind: "kill-switch"; readonly to: KillSwitch | null };

/**
 * What a change makes of the activation in force, or undefined where there is nothing to go back to. Pure.
 *
 * A rollback is a change like any other, but what a further rollback then returns to lies before what this one returned to:
 * two rollbacks undo two changes, and do not take turns.
 *
 * @param revision Looks up an earlier revision.
 */
export function changed(
  current: Activation,
  change: ActivationChange,
  revision: (number: number) => Activation | undefined,
): (ActivationState & Pick<Activation, "previousRevision">) | undefined {
  switch (change.kind) {
    case "put":
      return {
        everyone: change.everyone,
        stages: change.stages,
        killSwitch: current.killSwitch,
        previousRevision: current.revision,
      };
    case "kill-switch":
      return {
        everyone: current.everyone,
        stages: current.stages,
        killSwitch: change.to,
        previousRevision: current.revision,
      };
    case "rollback": {
      const target = current.previousRevision === null ? undefined : revision(current.previousRevision);
      return (
        target && {
          everyone: target.everyone,
          stages: target.stages,
          killSwitch: target.killSwitch,
          previousRevision: target.previousRevision,
        }
      );
    }
  }
}

/** Whether two states are for everybody the same. */
export function isSameState(a: ActivationState, b: ActivationState): boolean {
  const text = ({ everyone, stages, killSwitch }: ActivationState): string =>
    JSON.stringify([
      everyone,
      killSwitch,
      stages.map(({ version, share, pathPrefix }) => [version, share, pathPrefix]),
    ]);
  return text(a) === text(b);
}

/** A version with its policy; without where the stored one cannot be read: then nothing is said to whom it is for. */
export interface ActivePolicy {
  readonly version: number;
  readonly policy?: Policy | undefined;
}

/** An activation with all that a worker needs to obey it. */
export interface InForce {
  readonly revision: number;
  /** Since when it is, milliseconds since the epoch. */
  readonly sinceMs: number;
  readonly everyone: ActivePolicy;
  readonly stages: readonly (Omit<Stage, "version"> & ActivePolicy)[];
  readonly killSwitch: KillSwitch | null;
  /**
   * Until when a client may hold an offer made under an earlier revision, milliseconds since the epoch (RFC 7838: an
   * offer lives until its `ma` ends, whatever later responses leave out).
   */
  readonly earlierOffersUntilMs: number;
}

/** The versions that an activation names. */
export function versionsOf({ everyone, stages }: ActivationState): readonly number[] {
  return [...new Set([everyone, ...stages.map(({ version }) => version)])];
}

/** Whether which policy a document gets depends on who asks for it: then the client's unit has to be drawn. */
export function dependsOnClient({ stages }: Pick<InForce, "stages">, path: string): boolean {
  const first = stages.find((stage) => stage.share > 0 && matchesPath(stage, path));
  return first !== undefined && first.share < 1;
}

/**
 * The policy for a document and a client.
 *
 * One unit serves every stage and every revision: so a client stays in a share over all versions that keep it, and in a
 * share that grows.
 *
 * @param unit 0 to 1, uniform over clients and always the same for one; undefined where nobody can be told from another:
 *   such clients are in no share below 1.
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
 * The modes of all policies in force, where one client meets several of them on different paths; else none.
 * What `decide` takes as `modesElsewhere`.
 */
export function modesByPath({ everyone, stages }: Pick<InForce, "everyone" | "stages">): readonly Mode[] {
  if (!stages.some(({ pathPrefix }) => pathPrefix !== undefined)) return [];
  return [...new Set([everyone, ...stages].flatMap(({ policy }) => (policy === undefined ? [] : modesOf(policy))))];
}

/**
 * Until when offers may live that were made under this activation, if it ends now, milliseconds since the epoch: those that
 * isolates still make before they have heard of it, with all their life before them.
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

/** The longest life that a policy can give an offer: for one that cannot be read. */
export const OFFER_LONGEST_MS = MA_MAX_S * 1000;

function modesOf(policy: Policy): readonly Mode[] {
  return [policy.mode, ...policy.rules.map((rule) => rule.mode)];
}
