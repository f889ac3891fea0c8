import { integer, seededRandom } from "../analysis/statistics/random.ts";
import type { Lane } from "../lab/lane.ts";
import type { Network } from "../model/cell.ts";

/** Makes a lane's path such a network. Loss meets the data; all else meets both directions. Its draws come from `seed` and `parts`. */
export async function setNetwork(
  { path }: Lane,
  { rateMbps, delayMs, queueBytes, jitterMs, lossRatio, udpLossRatio, profile, profileRepeatMs }: Omit<Network, "name">,
  seed: number,
  ...parts: readonly string[]
): Promise<void> {
  const both = { rateMbps, delayMs, queueBytes, jitterMs };
  await path.set({
    seed: integer(2 ** 31, seededRandom(seed, "path", ...parts)),
    aToB: both,
    bToA: { ...both, lossRatio, udpLossRatio },
    profile: profile?.map(({ atMs, ...change }) => ({ atMs, aToB: change, bToA: change })),
    profileRepeatMs,
  });
}
