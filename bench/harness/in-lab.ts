import { type Lab, type LabOptions, startLab } from "../lab/lab.ts";
import type { Lane } from "../lab/lane.ts";
import { UserError } from "../../base/user-error.ts";
import { integer, seededRandom } from "../analysis/statistics/random.ts";
import type { Network, ProfileStep } from "../model/cell.ts";

/**
 * Does the work in a lab of its own, until it is done or a program of the lab ends by itself. @throws UserError
 *
 * @param work gets the lab, its first lane, and a signal that tells it to stop
 */
export async function inLab<Result>(
  options: LabOptions,
  signal: AbortSignal,
  work: (lab: Lab, lane: Lane, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const lab = await startLab(options);
  try {
    const [lane] = lab.lanes;
    if (lane === undefined) throw new Error("A lab has a lane.");
    return await unlessItFails(lab.failed, signal, (either) => work(lab, lane, either));
  } finally {
    await lab.stop();
  }
}

/**
 * Does the work until it is done or a program under it ends by itself. The work is then told to stop, and waited for.
 *
 * @param failed resolves with a sentence when a program ends that nobody stopped
 * @throws UserError with that sentence
 */
export async function unlessItFails<Result>(
  failed: Promise<string>,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const stopAll = new AbortController();
  const working = work(AbortSignal.any([signal, stopAll.signal]));
  const failure = failed.then((why) => {
    throw new UserError(why);
  });
  try {
    return await Promise.race([working, failure]);
  } finally {
    stopAll.abort();
    await working.catch(() => undefined);
  }
}

/** Makes a lane's path such a network. Loss meets the data; all else meets both directions. Its draws come from `seed` and `parts`. */
export async function setNetwork(
  { path }: Lane,
  {
    rateMbps,
    delayMs,
    queueBytes,
    queue,
    jitterMs,
    lossRatio,
    udpLossRatio,
    udpRateMbps,
    udpBurstBytes,
    udpMaxBytes,
    profile = [],
    profileRepeatMs,
  }: Omit<Network, "name">,
  seed: number,
  ...parts: readonly string[]
): Promise<void> {
  const both = { queueBytes, queue, jitterMs, udpMaxBytes };
  const policed = { udpLossRatio, udpRateMbps, udpBurstBytes };
  await path.set({
    seed: integer(2 ** 31, seededRandom(seed, "path", ...parts)),
    steps: [{ atMs: 0, rateMbps, delayMs }, ...profile].map((step: ProfileStep) => ({
      atMs: step.atMs,
      aToB: { ...both, rateMbps: step.rateMbps, delayMs: step.delayMs },
      bToA: {
        ...both,
        ...policed,
        rateMbps: step.rateMbps,
        delayMs: step.delayMs,
        lossRatio: step.lossRatio ?? lossRatio,
      },
    })),
    repeatMs: profileRepeatMs,
  });
}
