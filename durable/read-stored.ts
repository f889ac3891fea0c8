import type { Parsed } from "../policy-api/decision/parse.ts";

/** Reads JSON back from a row, which is parsed like any input. Undefined if it has a fault. */
export function readStored<T>(text: string, parse: (json: unknown) => Parsed<T>): T | undefined {
  const parsed = parse(storedJson(text));
  return parsed.ok ? parsed.value : undefined;
}

/** Undefined if it is no JSON, which no reader takes. */
export function storedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
