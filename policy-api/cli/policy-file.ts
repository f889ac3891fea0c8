import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parsePolicy } from "../core/parse-policy.ts";
import type { Policy } from "../core/policy.ts";
import { EXIT, Failure, misused } from "./failure.ts";
import type { Io } from "./io.ts";

/** Reads a policy from a file. @throws Failure with every fault */
export function readPolicyFile(file: string, { folder }: Io): Policy {
  const parsed = parsePolicy(readJson(file, folder));
  if (parsed.ok) return parsed.value;
  throw new Failure(EXIT.refused, `${file} is no valid policy.`, { faults: parsed.faults, place: file });
}

function readJson(file: string, folder: string): unknown {
  const text = read(file, folder);
  try {
    return JSON.parse(text);
  } catch (error) {
    const faults = [{ pointer: "", message: `is no JSON: ${(error as Error).message}` }];
    throw new Failure(EXIT.refused, `${file} is no valid policy.`, { faults, place: file });
  }
}

function read(file: string, folder: string): string {
  try {
    return readFileSync(resolve(folder, file), "utf8");
  } catch (error) {
    throw misused(`The policy cannot be read: ${(error as Error).message}`);
  }
}
