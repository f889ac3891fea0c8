import { type Lab, type LabOptions, startLab } from "../lab/lab.ts";
import type { Lane } from "../lab/lane.ts";
import { unlessItFails } from "./unless-it-fails.ts";

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
