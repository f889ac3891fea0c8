import type { z } from "@hono/zod-openapi";
import { type Fault, FAULTS_MAX, unknownName } from "../decision/parse.ts";

/** Pointers begin with the part of the request that Hono validated; those into the body have no prefix. */
const PREFIXES: Readonly<Record<string, string>> = { json: "", query: "/query", param: "/path", header: "/header" };

/** The first faults that zod found, with JSON pointers. */
export function faultsOf(error: z.core.$ZodError, target: string): Fault[] {
  const faults: Fault[] = [];
  for (const issue of error.issues) {
    if (faults.length >= FAULTS_MAX) break;
    faults.push(...faultsOfIssue(issue, PREFIXES[target] ?? `/${target}`, FAULTS_MAX - faults.length));
  }
  return faults;
}

function faultsOfIssue(issue: z.core.$ZodIssue, prefix: string, most: number): Fault[] {
  const pointer = prefix + pointerOf(issue.path);
  switch (issue.code) {
    case "unrecognized_keys": {
      const known = issue.message.split("\n");
      return issue.keys
        .slice(0, most)
        .map((key) => ({ pointer: pointer + pointerOf([key]), message: unknownName(key, known) }));
    }
    case "invalid_type":
      return [
        {
          pointer,
          message: issue.message.endsWith("received undefined")
            ? "is missing"
            : `must be ${TYPES[issue.expected] ?? issue.expected}`,
        },
      ];
    case "invalid_value":
      return [{ pointer, message: `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(", ")}` }];
    case "too_small":
      return [{ pointer, message: `must ${sized(issue.origin, "at least", Number(issue.minimum))}` }];
    case "too_big":
      return [{ pointer, message: `must ${sized(issue.origin, "at most", Number(issue.maximum))}` }];
    case "invalid_union":
      return [{ pointer, message: issue.message }];
    case "custom":
      return [
        {
          pointer,
          message: issue.message,
          ...(issue.params?.["relation"] === true ? { relation: true as const } : {}),
        },
      ];
    default:
      return [
        {
          pointer,
          message: issue.message.replace(/^Invalid ISO datetime$/, "must be a time such as 2026-11-21T10:00:00Z"),
        },
      ];
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
