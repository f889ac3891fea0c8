/** How long a client keeps its arm, milliseconds: a day, which is the longest life of an offer, and a day more. */
export const ASSIGNMENT_MS = 172_800_000;

/** The period of assignment of a time: all clients are drawn anew at its beginning. */
export function periodAt(atMs: number): number {
  return Math.floor(atMs / ASSIGNMENT_MS);
}

/** The last page of a client that was decided about by a drawn arm. */
export interface LastDecided {
  readonly period: number;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
}

/** The arms that are compared. Clients whose answer the policy chose are in neither. */
export const DRAWN_ARMS = ["offer", "withhold"] as const;
export type DrawnArm = (typeof DRAWN_ARMS)[number];

/** The request header by which rules of a zone tell the worker the arm that they drew for a page's report. */
export const ARM_HEADER = "h3-arm";
