import { readFileSync } from "node:fs";

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

/** Watches the cores of this machine while `work` runs; with how busy the busiest was in any part of that time. */
export async function watchCores<Result>(
  work: () => Promise<Result>,
): Promise<{ result: Result; busyRatio: CoreWatch["busyRatio"] }> {
  const { busyRatio, stop } = startCoreWatch();
  try {
    return { result: await work(), busyRatio };
  } finally {
    stop();
  }
}

export function readCores(): Core[] {
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

/** The kernel's unit of CPU time in /proc/stat: USER_HZ, 100 a second on every Linux (proc(5)). */
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
