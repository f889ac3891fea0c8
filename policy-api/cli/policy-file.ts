import { resolve } from "node:path";
import type { Parsed } from "../decision/parse.ts";
import { parsePolicy } from "../decision/parse-policy.ts";
import type { Policy } from "../decision/policy.ts";
import { EXIT, Failure } from "./failure.ts";
import type { Io } from "./io.ts";
import { readFile } from "./read-file.ts";

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
