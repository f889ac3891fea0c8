import type { Parsed } from "../policy-api/core/parse.ts";

/** Reads JSON back from a row, which is parsed like any input. Undefined if it has a fault. */
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
