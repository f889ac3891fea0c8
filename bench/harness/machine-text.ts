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

/** What reports name of a run and its machine: values of their templates. */
export function runValues({ command, starts }: { readonly command: string; readonly starts: readonly Start[] }) {
  const machine = lastMachine(starts);
  const version = (of: "go" | "quicGo" | "workerd" | "node" | "k6"): string => machine[of].replace(/^go/, "");
  return { command, machine: machineText(starts), version };
}

interface Outcome {
  readonly id: string;
  readonly startedMs: number;
  readonly outcome: "ok" | "failed" | "timeout";
}

/** Each row once: a run that was killed between two rows of a visit has made it again. */
export function onceEach<Row extends Pick<Outcome, "id">>(rows: readonly Row[]): Row[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

/** What a summary of pages begins with. */
export function summaryHead({ command, starts }: Parameters<typeof runValues>[0], rows: readonly Outcome[]) {
  const count = (of: Outcome["outcome"]): number => rows.filter(({ outcome }) => outcome === of).length;
  const [failures, timeouts] = [count("failed"), count("timeout")];
  return { command, day: lastDay(rows), starts, rows: rows.length, failures, timeouts };
}
