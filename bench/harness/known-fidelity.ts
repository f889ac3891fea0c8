import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import type { Machine } from "../model/machine.ts";
import type { KnownFidelity, Start } from "../model/recorded-run.ts";

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
