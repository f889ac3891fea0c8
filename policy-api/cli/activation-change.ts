import type { Activation } from "../contract/activation.ts";

/** A version for whom. */
export interface Rollout {
  readonly version: number;
  /** 0 to 1; absent: not spoken of. */
  readonly share?: number | undefined;
  readonly pathPrefix?: string | undefined;
}

export type Assignment = Pick<Activation, "everyone" | "stages">;
type Stage = Activation["stages"][number];

/**
 * What an activation becomes. Pure.
 *
 * Without share and path the version is everyone's, and stages are over. Else it is a stage: the one of the same path, or a
 * new one. A whole share without a path is everyone too, but leaves the stages of paths alone; no share at all ends a stage.
 */
export function rolledOut({ everyone, stages }: Assignment, { version, share, pathPrefix }: Rollout): Assignment {
  if (share === undefined && pathPrefix === undefined) return { everyone: version, stages: [] };
  const others = stages.filter((stage) => stage.pathPrefix !== pathPrefix);
  if (share === 0) return { everyone, stages: inOrder(others) };
  if (pathPrefix === undefined && share === 1) return { everyone: version, stages: inOrder(others) };
  const stage: Stage = { version, share: share ?? 1, ...(pathPrefix === undefined ? {} : { pathPrefix }) };
  return { everyone, stages: inOrder([...others, stage]) };
}

/** Whether every client meets the version at once: then a person should have said yes. */
export function isForEveryone({ share, pathPrefix }: Rollout): boolean {
  return (share ?? 1) === 1 && (pathPrefix === undefined || pathPrefix === "/");
}

/** The first stage that matches counts: the longer a path, the more it means just that. */
function inOrder(stages: readonly Stage[]): Stage[] {
  const length = (stage: Stage): number => stage.pathPrefix?.length ?? 0;
  return [...stages].sort((a, b) => length(b) - length(a));
}
