import { LOAD_ROW, type LoadRow } from "./load-row.ts";

/** A row for tests: everything unknown but what is given. */
export function exampleRow(given: Partial<LoadRow>): LoadRow {
  const blank = Object.entries(LOAD_ROW).map(([name, read]) => [name, read("") ?? read("0") ?? read("false")]);
  return { ...(Object.fromEntries(blank) as LoadRow), outcome: "ok", loadMs: 1, ...given };
}
