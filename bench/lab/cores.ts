import { readFileSync } from "node:fs";

/**
 * The kernel counts in ticks of 10 ms: a shorter window says little. k6 reads its cores itself, by the same rules
 * (bench/instrument/k6/reading): around one timed session of many, in a process that no other can look into.
 */
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
    samples.push({ atMs: Date.now(), cores: readCores() });
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

export function readCores(): Core[] {
  return parseCores(readFileSync("/proc/stat", "utf8"));
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

/** CPU time that all cores together have spent on anything, milliseconds. */
export function machineBusyMs(): number {
  return allCores(readFileSync("/proc/stat", "utf8")).busy * TICK_MS;
}

/** The kernel's unit of CPU time in /proc/stat: USER_HZ, 100 a second on every Linux (proc(5)). */
const TICK_MS = 10;

/** The line cpu of /proc/stat: all cores together. */
export function allCores(text: string): Core {
  return coreOf(/^cpu +(.*)$/m.exec(text)?.[1] ?? "");
}

/** The lines cpu0, cpu1, ... of /proc/stat. */
export function parseCores(text: string): Core[] {
  return [...text.matchAll(/^cpu\d+ (.*)$/gm)].map(([, fields = ""]) => coreOf(fields));
}

/**
 * user nice system idle iowait irq softirq steal (proc(5)); guest time stands in user and nice already. Stolen time counts as
 * busy: another machine had the core then.
 */
function coreOf(fields: string): Core {
  const ticks = fields.trim().split(/\s+/).slice(0, 8).map(Number);
  const total = ticks.reduce((sum, value) => sum + value, 0);
  return { busy: total - (ticks[3] ?? 0) - (ticks[4] ?? 0), total };
}
