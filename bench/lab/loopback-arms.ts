import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { INITIAL_POLICY } from "../../policy-api/decision/policy.ts";

/** A server in front of the same origin, asked for the same files in the same way. */
export type LoopbackArm = "bare" | "pass-through" | "subresource" | "fixed-h3" | "adaptive" | "nginx";

export interface ArmSetup {
  /** As tables call it. */
  readonly title: string;
  readonly front: "edge" | "nginx";
  /** What stands between the front and the origin. */
  readonly worker: "none" | "pass-through" | "ours";
  /** What our worker is told. */
  readonly policy?: object;
  /** As browsers send it: a page is decided on, a subresource is not. */
  readonly secFetchDest: "document" | "image";
  /** Whether every response must carry an Alt-Svc, or none. */
  readonly offers: boolean;
}

const BARE = { front: "edge", worker: "none", secFetchDest: "document", offers: false } as const;
const OURS = { ...BARE, worker: "ours", offers: true } as const;

export const LOOPBACK_ARMS: Readonly<Record<LoopbackArm, ArmSetup>> = {
  bare: { ...BARE, title: "the edge alone" },
  "pass-through": { ...BARE, title: "a worker that only passes on", worker: "pass-through" },
  subresource: {
    ...OURS,
    title: "this worker, a subresource: passes untouched",
    policy: offeringPolicy(),
    secFetchDest: "image",
    offers: false,
  },
  "fixed-h3": {
    ...OURS,
    title: "this worker, a page under `fixed-h3`",
    policy: { ...INITIAL_POLICY, mode: "fixed-h3" },
  },
  adaptive: {
    ...OURS,
    title: "this worker, a page under `adaptive`",
    policy: offeringPolicy(),
  },
  nginx: { ...BARE, title: "nginx instead of the edge, no worker", front: "nginx" },
};

/**
 * The published gains under a margin that every path meets: each page is decided on, offered HTTP/3, and the offer remembered.
 * That is the dearest answer, and every response shows that a decision was made.
 */
export function offeringPolicy(): object {
  const published = JSON.parse(readFileSync(join(ROOT, "policy-api/policies/published.json"), "utf8")) as object;
  return { ...published, margin: { enter: -1, leave: -1 } };
}
