import { readFileSync } from "node:fs";

/** The kernel counts in ticks of 10 ms: a shorter window says little (as in bench/instrument/k6/reading). */
const WINDOW_MS = 250;
const INTERVAL_MS = 50;

/** What one core has done so far, in ticks. */
export interface Core {
  readonly busy: number;
  readonly total: number;
}

export interface CoreSample {
  readonly atMs: number;
  readonly cores: readonly Core[];
}

/** Watches the cores of this machine while `work` runs; with how busy the busiest was in any part of that time. */
export async function watchCores<Result>(
  work: () => Promise<Result>,
): Promise<{ result: Result; busyRatio: (fromMs: number, toMs: number) => number }> {
  const samples: CoreSample[] = [];
  const take = (): void => {
    samples.push({ atMs: Date.now(), cores: parseCores(readFileSync("/proc/stat", "utf8")) });
  };
  take();
  const timer = setInterval(take, INTERVAL_MS);
  try {
    const result = await work();
    take();
    return { result, busyRatio: (fromMs, toMs) => busiest(samples, fromMs, toMs) };
  } finally {
    clearInterval(timer);
  }
}

/**
 * The busy share of the busiest core in a window that is never narrower than the one asked for, and at least 250 ms
 * wide; NaN where that was not watched.
 */
export function busiest(samples: readonly CoreSample[], fromMs: number, toMs: number): number {
  const first = samples.findLast(({ atMs }) => atMs <= fromMs && toMs - atMs >= WINDOW_MS);
  const last = samples.find(({ atMs }) => atMs >= toMs);
  if (first === undefined || last === undefined) return Number.NaN;
  const shares = last.cores.flatMap(({ busy, total }, index) => {
    const before = first.cores[index];
    return before === undefined || total <= before.total ? [] : [(busy - before.busy) / (total - before.total)];
  });
  return shares.length === 0 ? Number.NaN : Math.min(1, Math.max(0, ...shares));
}

/**
 * The lines cpu0, cpu1, ... of /proc/stat (proc(5)): user nice system idle iowait irq softirq steal; guest time stands
 * in user and nice already. Stolen time counts as busy: another machine had the core then.
 */
export function parseCores(text: string): Core[] {
  return [...text.matchAll(/^cpu\d+ (.*)$/gm)].map(([, fields = ""]) => {
    const ticks = fields.trim().split(/\s+/).slice(0, 8).map(Number);
    const total = ticks.reduce((sum, value) => sum + value, 0);
    return { busy: total - (ticks[3] ?? 0) - (ticks[4] ?? 0), total };
  });
}
