import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** The kernel's unit of CPU time in /proc/PID/stat: USER_HZ, 100 a second on every Linux (proc(5)). */
const TICK_MS = 10;

/** CPU time that these processes have used, user and system, all threads. A process that is gone counts as none. */
export function cpuMs(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + (threadsMs(pid) ?? ticks(pid) * TICK_MS), 0);
}

/**
 * By thread, in nanoseconds: /proc/PID/stat has the same sum, but in ticks, which are a tenth of what an edge uses for a
 * second of a slow open loop. None of the programs here ends threads. Undefined where the kernel does not tell.
 */
function threadsMs(pid: number): number | undefined {
  try {
    const ns = readdirSync(`/proc/${pid}/task`).map((thread) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
    );
    return ns.reduce((sum, one) => sum + one, 0) / 1e6;
  } catch {
    return undefined;
  }
}

function ticks(pid: number): number {
  try {
    return statTicks(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return 0;
  }
}

/** utime and stime of /proc/PID/stat: fields 14 and 15. The second may hold spaces and brackets. */
export function statTicks(text: string): number {
  const fields = text.slice(text.lastIndexOf(") ") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

/** The processes that a process has started and that still run: nginx's workers. */
export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}

export const CORES = availableParallelism();
