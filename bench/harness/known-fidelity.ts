import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { machine } from "./machine.ts";

export const FIDELITY_FOLDER = join(ROOT, ".adaptive-h3/bench/fidelity");

/** What the last `fidelity` on this machine found: up to which rate the emulated path is what it is asked to be. */
export interface KnownFidelity {
  readonly date: string;
  readonly kernel: string;
  readonly limitMbps: number;
}

/** The last result here; undefined where `fidelity` has not run, or on another kernel. */
export function knownFidelity(): KnownFidelity | undefined {
  const file = join(FIDELITY_FOLDER, "summary.json");
  if (!existsSync(file)) return undefined;
  const known = JSON.parse(readFileSync(file, "utf8")) as KnownFidelity;
  return known.kernel === machine().kernel ? known : undefined;
}
