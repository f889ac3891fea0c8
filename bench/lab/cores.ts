import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { shell } from "./shell.ts";

/** The kernel counts in ticks of 10 ms: a shorter window says little. */
export const WINDOW_MS = 250;
const INTERVAL_MS = 50;
/** Ten minutes: nothing that is asked about lasts longer. */
const SAMPLES_MAX = 600_000 / INTERVAL_MS;

/** What one core has done so far, in ticks. */
export interface Core {
  readonly busy: number;
  readonly total: number;
}

export interface CoreSample {
  readonly atMs: number;
  readonly cores: readonly Core[];
}

export interface CoreWatch {
  /** How busy the busiest core was in a part of the time since the start, as `busiest` has it. */
  readonly busyRatio: (fromMs: number, toMs: number) => number;
  readonly stop: () => void;
}

/** Watches the cores of this machine until it is stopped. */
export function startCoreWatch(): CoreWatch {
  const samples: CoreSample[] = [];
  const take = (): void => {
    samples.push({ atMs: Date.now(), cores: readCores() });
    if (samples.length > SAMPLES_MAX) samples.shift();
  };
  take();
  const timer = setInterval(take, INTERVAL_MS);
  return {
    busyRatio: (fromMs, toMs) => {
      if ((samples.at(-1)?.atMs ?? 0) < toMs) take();
      return busiest(samples, fromMs, toMs);
    },
    stop: () => {
      clearInterval(timer);
      take();
    },
  };
}

function readCores(): Core[] {
  return parseCores(readFileSync("/proc/stat", "utf8"));
}

/** What each core did between two readings; nothing of a core that stood still or was not there. */
function ticksBetween(before: readonly Core[], after: readonly Core[]): Core[] {
  return after
    .map(({ busy, total }, i) => ({
      busy: busy - (before[i]?.busy ?? busy),
      total: total - (before[i]?.total ?? total),
    }))
    .filter(({ total }) => total > 0);
}

/**
 * The busy share of the busiest core in a window that is never narrower than the one asked for, and at least 250 ms
 * wide; NaN where that was not watched.
 */
export function busiest(samples: readonly CoreSample[], fromMs: number, toMs: number): number {
  const first = samples.findLast(({ atMs }) => atMs <= fromMs && toMs - atMs >= WINDOW_MS);
  const last = samples.find(({ atMs }) => atMs >= toMs);
  if (first === undefined || last === undefined) return Number.NaN;
  const shares = ticksBetween(first.cores, last.cores).map(({ busy, total }) => busy / total);
  return shares.length === 0 ? Number.NaN : Math.min(1, Math.max(0, ...shares));
}

/** CPU time that all cores together have spent on anything, milliseconds. */
export function machineBusyMs(): number {
  return readCores().reduce((sum, { busy }) => sum + busy, 0) * TICK_MS;
}

/** The kernel's unit of CPU time in /proc: USER_HZ, 100 a second on every Linux (proc(5)). */
const TICK_MS = 10;

/**
 * The lines cpu0, cpu1, ... of /proc/stat: user nice system idle iowait irq softirq steal (proc(5)). Guest time stands in
 * user and nice already. Stolen time counts as busy: another machine had the core then.
 */
export function parseCores(text: string): Core[] {
  return [...text.matchAll(/^cpu\d+ (.*)$/gm)].map(([, fields = ""]) => {
    const ticks = fields.trim().split(/\s+/).slice(0, 8).map(Number);
    const total = ticks.reduce((sum, value) => sum + value, 0);
    return { busy: total - (ticks[3] ?? 0) - (ticks[4] ?? 0), total };
  });
}

/**
 * CPU time that these processes have used, user and system, all threads: in nanoseconds, where /proc/PID/stat has ticks, which are a
 * tenth of what an edge uses for a second of a slow open loop. None of the programs here ends threads. A process that is gone
 * counts as none.
 */
export function cpuMs(pids: readonly number[]): number {
  const threadNs = (pid: number): number[] => {
    try {
      return readdirSync(`/proc/${pid}/task`).map((thread) =>
        Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
      );
    } catch {
      return [];
    }
  };
  return pids.flatMap(threadNs).reduce((sum, ns) => sum + ns, 0) / 1e6;
}

/** The processes that a process has started and that still run: nginx's workers. */
export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}

export const CORES = availableParallelism();

/** What a process has in memory, in bytes (VmRSS of /proc/PID/status, proc(5)); 0 where there is none of it any more. */
export function residentBytes(pid: number): number {
  try {
    return statusBytes(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return 0;
  }
}

/** VmRSS of the text of /proc/PID/status, in bytes; 0 where it has none, as of a process that is ending. */
export function statusBytes(text: string): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024;
}

/** What the kernel holds for the sockets of a network namespace, bytes. @throws where `ss` fails */
export async function socketBytes(namespace: string, transport: "tcp" | "udp"): Promise<number> {
  const which = transport === "tcp" ? "-tmnH" : "-aumnH";
  return skmemBytes(await shell("ip", "netns", "exec", namespace, "ss", which));
}

/**
 * The sum over sockets of what `ss -m` tells of each (ss(8)): received and not read (r), forward-allocated (f), and sent or to be
 * sent (w is TCP's write queue, unacknowledged segments included; UDP has what the device has not sent yet, t).
 */
export function skmemBytes(text: string): number {
  const sockets = [...text.matchAll(/skmem:\(r(\d+),rb\d+,t(\d+),tb\d+,f(\d+),w(\d+)/g)];
  return sockets.reduce((sum, [, r, t, f, w]) => sum + Number(r) + Number(f) + Math.max(Number(w), Number(t)), 0);
}
