import type { Machine } from "../model/machine.ts";
import type { Start } from "../model/recorded-run.ts";

/** A run's last start: its machine is what a report names. */
export function lastStart(starts: readonly Start[]): Start {
  const start = starts.at(-1);
  if (start === undefined) throw new Error("A report is about a run, and this one never started.");
  return start;
}

export function lastMachine(starts: readonly Start[]): Machine {
  return lastStart(starts).machine;
}

/** `kernel 6.1 (x64), 2 cores of a CPU, 8 GiB; commit abc` */
export function machineText(starts: readonly Start[]): string {
  const { kernel, arch, cores, cpu, memoryGiB } = lastMachine(starts);
  const commits = distinct(starts.map(({ machine: { commit } }) => commit));
  return `kernel ${kernel} (${arch}), ${cores} cores of ${cpu}, ${memoryGiB} GiB; commit ${commits}`;
}

/** Each value once, with commas. */
export function distinct(values: readonly (string | number)[]): string {
  return [...new Set(values)].join(", ");
}

/** The day of a time in milliseconds, ISO 8601. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The day of the last row. */
export function lastDay(rows: readonly { readonly startedMs: number }[]): string {
  return dayOf(Math.max(...rows.map(({ startedMs }) => startedMs)));
}
