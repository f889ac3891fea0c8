import { availableParallelism, cpus } from "node:os";
import { setTimeout as wait } from "node:timers/promises";

/** The kernel counts in steps of 10 ms: on two cores this tells 5 %. */
const LOOK_MS = 100;

/** The share of all cores that is in use now; to be called while what is measured stands still. */
export async function busyRatio(signal: AbortSignal | undefined): Promise<number> {
  const before = idleMs();
  const beganMs = performance.now();
  await wait(LOOK_MS, undefined, signal === undefined ? {} : { signal });
  const passedMs = (performance.now() - beganMs) * availableParallelism();
  return Math.min(1, Math.max(0, 1 - (idleMs() - before) / passedMs));
}

function idleMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.idle, 0);
}
