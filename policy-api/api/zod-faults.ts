import type { z } from "@hono/zod-openapi";
import { type Fault, FAULTS_MAX, unknownName } from "../decision/parse.ts";

// zod reads what callers send, and says its faults in the words of the policy's readers.

/** Pointers begin with the part of the request that Hono validated; those into the body have no prefix. */
const PREFIXES: Readonly<Record<string, string>> = { json: "", query: "/query", param: "/path", header: "/header" };

/** The first faults that zod found, with JSON pointers. */
export function faultsOf(error: z.core.$ZodError, target: string): Fault[] {
  const prefix = PREFIXES[target] ?? `/${target}`;
  return error.issues
    .flatMap((issue): Fault[] => {
      const { path, message } = issue;
      if (issue.code === "unrecognized_keys")
        return message.split("\n").map((line, i) => ({
          pointer: prefix + pointerOf([...path, issue.keys[i] ?? ""]),
          message: line,
        }));
      const { pointer = "", relation }: Partial<Fault> = (issue.code === "custom" && issue.params) || {};
      return [{ pointer: prefix + pointerOf(path) + pointer, message, ...(relation && { relation }) }];
    })
    .slice(0, FAULTS_MAX);
}

/** A fault as a sentence without its subject. For unknown fields a line each. Undefined: as the schema says it. */
export function sentenceOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "unrecognized_keys": {
      const known = Object.keys((issue.inst as z.ZodObject | undefined)?.shape ?? {});
      // To find the name that was meant takes time, and an input can have many thousand names.
      return issue.keys
        .slice(0, FAULTS_MAX)
        .map((name) => unknownName(name, known))
        .join("\n");
    }
    case "invalid_type":
      return issue.input === undefined ? "is missing" : `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
    case "too_small":
      return `must ${sized(issue.origin, "at least", Number(issue.minimum))}`;
    case "too_big":
      return `must ${sized(issue.origin, "at most", Number(issue.maximum))}`;
    case "invalid_format":
      return issue.format === "datetime" ? "must be a time such as 2026-11-21T10:00:00Z" : undefined;
    default:
      return undefined;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  string: "text",
  boolean: "true or false",
  object: "an object",
  array: "a list",
};

function sized(origin: string, how: "at least" | "at most", bound: number): string {
  if (origin === "string") return `have ${how} ${bound} character${bound === 1 ? "" : "s"}`;
  if (origin === "array") return `have ${how} ${bound} item${bound === 1 ? "" : "s"}`;
  return `be ${how} ${bound}`;
}

function pointerOf(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
