import { readStarts, type Start, STARTS_FILE } from "../model/recorded-run.ts";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../base/user-error.ts";

/** @throws UserError where the folder cannot be written */
export function addStart(folder: string, start: Start): void {
  try {
    writeFileSync(join(folder, STARTS_FILE), `${JSON.stringify([...readStarts(folder), start], undefined, 2)}\n`);
  } catch (error) {
    throw new UserError(`${join(folder, STARTS_FILE)} cannot be written: ${(error as Error).message}.`);
  }
}
