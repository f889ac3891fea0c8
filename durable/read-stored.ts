import type { Parsed } from "../policy-api/core/parse.ts";

/** Reads JSON back from a row: input like any other. Undefined when it is not what it should be. */
export function readStored<T>(text: string, parse: (json: unknown) => Parsed<T>): T | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = parse(json);
  return parsed.ok ? parsed.value : undefined;
}
