import type { KnownFidelity, Machine, Start } from "../model/recorded-run.ts";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import os from "node:os";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";

export function thisMachine(): Machine {
  return {
    kernel: os.release(),
    arch: os.arch(),
    cpu: os.cpus()[0]?.model ?? "unknown",
    cores: os.cpus().length,
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
    go: printed("go", ["env", "GOVERSION"]),
    // With the end of slow start that infra/edge/internal/slowstart has.
    quicGo: `${versionIn("infra/edge/go.mod", /github\.com\/quic-go\/quic-go (v\S+)/)} with RFC 9406`,
    quiche: versionIn("bench/instrument/quiche/Cargo.lock", /name = "quiche"\nversion = "([^"]+)"/),
    k6: versionIn("bench/instrument/k6/go.mod", /go\.k6\.io\/k6 (v\S+)/),
    workerd: versionIn("node_modules/workerd/package.json", /"version": "([^"]+)"/),
    node: process.version,
    commit: commitHere(),
  };
}

/** The commit, with "+" where files differ from it. */
function commitHere(): string {
  const head = printed("git", ["rev-parse", "--short", "HEAD"]);
  // Results are what runs write: they change no figure.
  return printed("git", ["status", "--porcelain", "--", ".", ":!bench/results"]) === "unknown" ? head : `${head}+`;
}

function printed(program: string, args: readonly string[]): string {
  return spawnSync(program, [...args], { cwd: ROOT, encoding: "utf8" }).stdout?.trim() || "unknown";
}

function versionIn(file: string, pattern: RegExp): string {
  return pattern.exec(readFileSync(join(ROOT, file), "utf8"))?.[1] ?? "unknown";
}

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

/** The day of the last row; nothing where there is none, as where a busy machine spoiled all. */
export function lastDay(rows: readonly { readonly startedMs: number }[]): string {
  return rows.length === 0 ? "" : dayOf(Math.max(...rows.map(({ startedMs }) => startedMs)));
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

/** Where `fidelity` leaves the last result of this machine. */
export const FIDELITY_FOLDER = join(ROOT, ".adaptive-h3/bench/fidelity");
const RECORDED_FOLDER = join(ROOT, "bench/results/fidelity");

/** What `fidelity` found on this machine; undefined where it has not run, or ran on another kernel or processor. */
export function knownFidelity({ kernel, cpu }: Machine, folder = FIDELITY_FOLDER): KnownFidelity | undefined {
  const file = join(folder, "summary.json");
  if (!existsSync(file)) return undefined;
  const { date, limitMbps, machine } = JSON.parse(readFileSync(file, "utf8")) as KnownFidelity & { machine: Machine };
  return machine.kernel === kernel && machine.cpu === cpu ? { date, limitMbps } : undefined;
}

/**
 * What was known when a run was measured, wherever its report is made again. Each start keeps what it knew. Starts that
 * were recorded earlier kept nothing: for them the recorded `fidelity` tells, if it is of their machine and not later.
 */
export function fidelityAt({ at, machine, fidelity }: Start, recorded = RECORDED_FOLDER): KnownFidelity | undefined {
  if (fidelity !== undefined) return fidelity;
  const found = knownFidelity(machine, recorded);
  return found !== undefined && found.date <= at.slice(0, 10) ? found : undefined;
}
