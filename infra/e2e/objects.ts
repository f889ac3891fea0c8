import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parsePathState } from "../../policy-api/core/parse-state.ts";
import type { PathState } from "../../policy-api/core/estimator.ts";

/** Reads the rows of PathStore's objects from disk, while workerd runs. */
export function rowsOnDisk(stateDir: string): { clients: PathState[]; networks: PathState[] } {
  const rows = { clients: [] as PathState[], networks: [] as PathState[] };
  for (const file of databases(stateDir)) {
    const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
    try {
      for (const row of database.prepare("SELECT key, state FROM paths").all()) {
        const parsed = parsePathState(JSON.parse(String(row["state"])));
        if (!parsed.ok) throw new Error(`row ${String(row["key"])}: ${JSON.stringify(parsed.faults)}`);
        rows[String(row["key"]).startsWith("client ") ? "clients" : "networks"].push(parsed.value);
      }
    } catch (error) {
      // The object has recorded nothing yet.
      if (!(error as Error).message.includes("no such table")) throw error;
    } finally {
      database.close();
    }
  }
  return rows;
}

/** Runs SQL on the objects' files. workerd must not have them open. */
export function changeOnDisk(stateDir: string, sql: string): void {
  for (const file of databases(stateDir)) {
    const database = new DatabaseSync(file);
    try {
      database.exec(sql);
    } finally {
      database.close();
    }
  }
}

function databases(stateDir: string): string[] {
  const folder = join(stateDir, "objects", "adaptive-h3-PathStore");
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(".sqlite") && name !== "metadata.sqlite")
    .map((name) => join(folder, name));
}
