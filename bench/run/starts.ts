import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../base/user-error.ts";
import type { Machine } from "./machine.ts";

const FILE = "starts.json";

/** One start of a run: a run that was interrupted has several, and its rows may come of other versions than its report. */
export interface Start {
  /** ISO 8601. */
  readonly at: string;
  /** How many slow cells were measured at a time. */
  readonly lanes: number;
  readonly rowsBefore: number;
  readonly machine: Machine;
}

export function readStarts(folder: string): Start[] {
  const file = join(folder, FILE);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Start[]) : [];
}

/** @throws UserError where the folder cannot be written */
export function addStart(folder: string, start: Start): void {
  try {
    writeFileSync(join(folder, FILE), `${JSON.stringify([...readStarts(folder), start], undefined, 2)}\n`);
  } catch (error) {
    throw new UserError(`${join(folder, FILE)} cannot be written: ${(error as Error).message}.`);
  }
}
