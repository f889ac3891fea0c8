import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Parsed } from "../decision/parse.ts";
import { parsePolicy, type Policy } from "../decision/policy.ts";
import type { Io } from "./io.ts";
import { EXIT, Failure, misused } from "./failure.ts";

/** The text of a file that the command line names. @throws Failure that says what cannot be read */
export function readFile(file: string, what: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw misused(`${what} cannot be read: ${(error as Error).message}`);
  }
}

/**
 * Writes what `--out` asks for. A file that is there is never overwritten.
 *
 * @param what The content in words: `the policy`
 * @throws Failure
 */
export function writeNewFile(file: string, content: string, what: string, mode = 0o666): void {
  try {
    writeFileSync(file, content, { flag: "wx", mode });
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === "EEXIST";
    throw misused(
      isThere
        ? `--out: ${file} is there already, and is not overwritten.`
        : `--out: ${what} cannot be written: ${(error as Error).message}`,
    );
  }
}

/** Reads a policy from a file. @throws Failure with every fault */
export function readPolicyFile(file: string, { folder }: Io): Policy {
  const parsed = parseJson(readFile(resolve(folder, file), "The policy"));
  if (parsed.ok) return parsed.value;
  throw new Failure(EXIT.refused, `${file} is no valid policy.`, { faults: parsed.faults, place: file });
}

function parseJson(text: string): Parsed<Policy> {
  try {
    return parsePolicy(JSON.parse(text));
  } catch (error) {
    return { ok: false, faults: [{ pointer: "", message: `is no JSON: ${(error as Error).message}` }] };
  }
}
