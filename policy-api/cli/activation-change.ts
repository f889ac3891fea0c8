import type { Activation } from "../api/contract/activation.ts";

/** A version, and for whom. */
export interface Rollout {
  readonly version: number;
  /** 0 to 1. */
  readonly share?: number | undefined;
  readonly pathPrefix?: string | undefined;
}

export type Assignment = Pick<Activation, "everyone" | "stages">;
type Stage = Activation["stages"][number];

/**
 * What a rollout makes of an activation. Pure.
 *
 * Without a share and a path the version is for everyone, and all stages end. Otherwise the version gets a stage: it replaces
 * the stage of the same path, or is added. A share of 1 without a path is everyone too, but the stages of paths stay. A share
 * of 0 ends the stage.
 */
export function rolledOut({ everyone, stages }: Assignment, { version, share, pathPrefix }: Rollout): Assignment {
  if (share === undefined && pathPrefix === undefined) return { everyone: version, stages: [] };
  const others = stages.filter((stage) => stage.pathPrefix !== pathPrefix);
  if (share === 0) return { everyone, stages: inOrder(others) };
  if (pathPrefix === undefined && share === 1) return { everyone: version, stages: inOrder(others) };
  const stage: Stage = { version, share: share ?? 1, ...(pathPrefix === undefined ? {} : { pathPrefix }) };
  return { everyone, stages: inOrder([...others, stage]) };
}

/** Whether every client gets the version at once. Then a person must say yes first. */
export function isForEveryone({ share, pathPrefix }: Rollout): boolean {
  return (share ?? 1) === 1 && (pathPrefix === undefined || pathPrefix === "/");
}

/** Longer paths first, as the first stage that matches counts. */
function inOrder(stages: readonly Stage[]): Stage[] {
  const length = (stage: Stage): number => stage.pathPrefix?.length ?? 0;
  return [...stages].sort((a, b) => length(b) - length(a));
}
