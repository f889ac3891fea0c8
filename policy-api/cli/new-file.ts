import { writeFileSync } from "node:fs";
import { misused } from "./failure.ts";

/**
 * Writes what `--out` asks for. A file that is there is never overwritten.
 *
 * @param what The content in words: `the policy`
 * @throws Failure
 */
export function writeNewFile(file: string, content: string, what: string): void {
  try {
    writeFileSync(file, content, { flag: "wx" });
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === "EEXIST";
    throw misused(
      isThere
        ? `--out: ${file} is there already, and is not overwritten.`
        : `--out: ${what} cannot be written: ${(error as Error).message}`,
    );
  }
}
