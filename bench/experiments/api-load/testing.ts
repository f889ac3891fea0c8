import { API_LOAD_ROW, type ApiLoadRow } from "./row.ts";

/** A row for tests: everything 1 but what is given. */
export function exampleApiLoadRow(given: Partial<ApiLoadRow>): ApiLoadRow {
  const filled = Object.fromEntries(
    Object.entries(API_LOAD_ROW).map(([name, read]) => [name, read("") === "" ? "" : 1]),
  );
  return {
    ...filled,
    id: `${given.loop}/${given.subject}/${given.round}`,
    dropped: 0,
    failures: 0,
    foreignRatio: 0.01,
    ...given,
  } as ApiLoadRow;
}
