import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Meter } from "./measure.ts";

/**
 * CPU time, not the clock's: what other programs do meanwhile is not in it. It has the collector's and the compiler's
 * threads in it.
 */
export function nodeMeter(): Meter {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  return {
    cpuNs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) * 1_000;
    },
    heapBytes: () => {
      // The second one takes what the first one's finalizers let go.
      gc();
      gc();
      return process.memoryUsage().heapUsed;
    },
  };
}
