import { join } from "node:path";
import { activatePolicy } from "../../infra/workerd/policy-client.ts";
import { startWorkerd } from "../../infra/workerd/workerd.ts";
import { type Arm, ARM_SETUPS, type ArmSetup, type Quic } from "../model/arm.ts";
import { type Congestion, CONGESTIONS } from "../model/congestion.ts";
import { policyOf } from "./arm-policy.ts";
import type { OriginServer } from "./origin-process.ts";
import { type PostedSample, startSampleTee } from "./tee.ts";

const TOKEN = "token-of-a-bench";

/** What stands behind an edge of an arm, in every lane. */
export interface ArmSystem {
  readonly arm: Arm;
  /** Those that it serves: an arm whose policy depends on the congestion control has several systems. */
  readonly congestions: readonly Congestion[];
  /** Who answers the edge's requests, and who takes its samples: for the edge's flags. */
  readonly upstream: string;
  readonly samples: string;
  /** Who answers instead of an edge, over HTTP/3 alone. */
  readonly quic: ArmSetup["quic"];
}

/** Starts the systems of an arm: one for each policy that it has. @throws UserError */
export async function startArmSystems(arm: Arm, quic: Quic, ...rest: Rest): Promise<ArmSystem[]> {
  const told = CONGESTIONS.map((congestion) => ({ congestion, policy: policyOf(arm, congestion, quic) }));
  const systems: ArmSystem[] = [];
  for (const same of Map.groupBy(told, (one) => JSON.stringify(one.policy)).values()) {
    const congestions = same.map(({ congestion }) => congestion);
    systems.push(await startArmSystem(arm, same[0]?.policy, congestions, ...rest));
  }
  return systems;
}

type Rest = [
  origin: OriginServer,
  folder: string,
  stack: AsyncDisposableStack,
  on: { sample: (sample: PostedSample) => void; failure: (why: string) => void },
];

/**
 * Starts workerd with a policy, or nothing for an arm without a worker. What it starts ends with `stack`.
 *
 * @throws UserError
 */
async function startArmSystem(
  arm: Arm,
  policy: object | undefined,
  congestions: readonly Congestion[],
  ...[origin, folder, stack, on]: Rest
): Promise<ArmSystem> {
  const name = `${arm}-${congestions.join("-")}`;
  const workerd =
    policy === undefined
      ? undefined
      : await startWorkerd({
          stateDir: join(folder, name),
          origin: origin.url,
          token: TOKEN,
          onErrorLine: () => undefined,
        });
  if (workerd !== undefined) {
    stack.defer(() => workerd.stop());
    void workerd.failed.then(on.failure);
    await activatePolicy(workerd.visitorsSocket, TOKEN, policy ?? {});
  }
  const tee = await startSampleTee(join(folder, `${name}.tee`), workerd?.samplesSocket, on.sample);
  stack.defer(() => tee.stop());
  return {
    arm,
    congestions,
    upstream: `unix:${workerd?.visitorsSocket ?? origin.socket}`,
    samples: `unix:${tee.socket}`,
    quic: ARM_SETUPS[arm].quic,
  };
}
