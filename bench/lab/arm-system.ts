import { join } from "node:path";
import { UserError } from "../../infra/setup/programs.ts";
import { callApi } from "../../infra/workerd/policy-client.ts";
import { startWorkerd } from "../../infra/workerd/workerd.ts";
import { type Arm, ARM_SETUPS } from "../experiments/arms.ts";
import type { OriginServer } from "./origin-process.ts";
import { type PostedSample, startSampleTee } from "./tee.ts";

const TOKEN = "token-of-a-bench";

/** What stands behind the edges of an arm, in every lane. */
export interface ArmSystem {
  /** Who answers the edge's requests, and who takes its samples: for the edge's flags. */
  readonly upstream: string;
  readonly samples: string;
}

/**
 * Starts workerd with the arm's policy, or nothing for an arm without a worker. What it starts ends with `stack`.
 *
 * @throws UserError
 */
export async function startArmSystem(
  arm: Arm,
  origin: OriginServer,
  folder: string,
  stack: AsyncDisposableStack,
  on: { sample: (sample: PostedSample) => void; failure: (why: string) => void },
): Promise<ArmSystem> {
  const { policy } = ARM_SETUPS[arm];
  const workerd =
    policy === undefined
      ? undefined
      : await startWorkerd({
          stateDir: join(folder, arm),
          origin: origin.url,
          token: TOKEN,
          onErrorLine: () => undefined,
        });
  if (workerd !== undefined) {
    stack.defer(() => workerd.stop());
    void workerd.failed.then(on.failure);
    const { status, json } = await callApi(workerd.visitorsSocket, TOKEN, "PUT", "policy", policy);
    if (status !== 200) throw new UserError(`The policy of ${arm} was refused: ${JSON.stringify(json)}`);
  }
  const tee = await startSampleTee(join(folder, `${arm}.tee`), workerd?.samplesSocket, on.sample);
  stack.defer(() => tee.stop());
  return { upstream: `unix:${workerd?.visitorsSocket ?? origin.socket}`, samples: `unix:${tee.socket}` };
}
