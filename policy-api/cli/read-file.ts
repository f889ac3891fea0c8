import { readFileSync } from "node:fs";
import { misused } from "./failure.ts";

/** The text of a file that the command line names. @throws Failure that says what cannot be read */
export function readFile(file: string, what: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw misused(`${what} cannot be read: ${(error as Error).message}`);
  }
}
