import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../infra/setup/build.ts";
import { INITIAL_POLICY } from "../../policy-api/core/policy.ts";

export const ARMS = ["fixed-h2", "fixed-h3", "always-offer", "adaptive", "bare"] as const;

/** An origin behind the path: the same content, the same worker, another policy. */
export type Arm = (typeof ARMS)[number];

export interface ArmSetup {
  readonly about: string;
  /** What a session of this arm begins on. */
  readonly firstProtocol: "h2" | "h3";
  /** What its worker is told; undefined: an edge without a worker. */
  readonly policy: object | undefined;
}

export const ARM_SETUPS: Readonly<Record<Arm, ArmSetup>> = {
  "fixed-h2": {
    about: "HTTP/2 only: the worker says nothing",
    firstProtocol: "h2",
    policy: { ...INITIAL_POLICY, mode: "fixed-h2" },
  },
  "fixed-h3": {
    about: "HTTP/3 from the first packet, as published: the free choice of a client that knows",
    firstProtocol: "h3",
    policy: { ...INITIAL_POLICY, mode: "fixed-h3" },
  },
  "always-offer": {
    about: "begins on HTTP/2 and is always offered HTTP/3: what CDNs do today",
    firstProtocol: "h2",
    policy: { ...INITIAL_POLICY, mode: "fixed-h3" },
  },
  adaptive: {
    about: "begins on HTTP/2 and is offered HTTP/3 where the published times say that it is faster",
    firstProtocol: "h2",
    policy: JSON.parse(readFileSync(join(ROOT, "policy-api/policies/published.json"), "utf8")) as object,
  },
  bare: { about: "the edge without a worker, over HTTP/2", firstProtocol: "h2", policy: undefined },
};
