import { closeSync, existsSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type ClientState, readClientState } from "../../policy-api/decision/history.ts";
import { parse, type Reader } from "../../policy-api/decision/parse.ts";
import { readCountedPages } from "../../policy-api/visitors/counted-pages.ts";
import { type AssignedClient, readAssignedClient } from "../../policy-api/visitors/assigned-client.ts";
import { type DrawnArm } from "../../policy-api/decision/assignment.ts";
import { readSums, type Sums } from "../../policy-api/visitors/sums.ts";
import { outcomeId } from "../../policy-api/visitors/sums-change.ts";

/** Reads the rows of PathStore's objects from disk, while workerd runs: of clients also how many of their pages count. */
export function rowsOnDisk(stateDir: string): { clients: ClientState[]; pages: number } {
  const rows = { clients: [] as ClientState[], pages: 0 };
  readObjects(stateDir, (database) => {
    for (const row of database.prepare("SELECT key, state FROM paths").all()) {
      const key = String(row["key"]);
      const state = JSON.parse(String(row["state"])) as { client?: unknown; countedPages?: unknown };
      rows.clients.push(valueOf(key, readClientState, state.client));
      const counted = valueOf(key, readCountedPages, state.countedPages);
      rows.pages += counted.filter(({ isOpen }) => isOpen !== true).length;
    }
  });
  return rows;
}

/**
 * Reads from disk what clients of drawn arms did, and the sums of that by outcomeId, as they were at one time. A test whose system has
 * several objects gets the sums of one of them.
 */
export function outcomesOnDisk(stateDir: string): {
  clients: AssignedClient[];
  sums: Map<string, Sums>;
  /** Versions whose sums gave way to those of others. */
  gone: Set<number>;
} {
  const outcomes = { clients: [] as AssignedClient[], sums: new Map<string, Sums>(), gone: new Set<number>() };
  readObjects(stateDir, (database) => {
    const assigned = "SELECT key, state -> '$.assigned' AS assigned FROM paths WHERE assigned IS NOT NULL";
    for (const row of database.prepare(assigned).all())
      outcomes.clients.push(valueOf(String(row["key"]), readAssignedClient, JSON.parse(String(row["assigned"]))));
    for (const row of database.prepare("SELECT version FROM outcomes WHERE arm = 'gone'").all())
      outcomes.gone.add(Number(row["version"]));
    const summed = "SELECT version, arm, key, state -> '$.sums' AS sums FROM outcomes WHERE arm <> 'gone'";
    for (const row of database.prepare(summed).all()) {
      const id = outcomeId({ version: Number(row["version"]), arm: row["arm"] as DrawnArm, key: String(row["key"]) });
      outcomes.sums.set(id, valueOf(id, readSums, JSON.parse(String(row["sums"]))));
    }
  });
  return outcomes;
}

/** Calls `read` with each object's database, as it was at one time. */
function readObjects(stateDir: string, read: (database: DatabaseSync) => void): void {
  for (const file of databases(stateDir)) {
    const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
    try {
      database.exec("BEGIN");
      read(database);
    } catch (error) {
      // The object has recorded nothing yet.
      if (!(error as Error).message.includes("no such table")) throw error;
    } finally {
      database.close();
    }
  }
}

/** Throws if a row cannot be read. */
export function valueOf<T>(key: string, reader: Reader<T>, json: unknown): T {
  const parsed = parse(reader, json);
  if (!parsed.ok) throw new Error(`row ${key}: ${JSON.stringify(parsed.faults)}`);
  return parsed.value;
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
    .map((name) => join(folder, name))
    .filter(isWriteAhead);
}

/**
 * Whether workerd has made this database ready. It creates the file and then switches it to a write-ahead log, for which nobody else
 * may have it open: a reader at that moment makes the object fail. The file's bytes 18 and 19 say 2 then (https://sqlite.org/fileformat.html).
 */
function isWriteAhead(file: string): boolean {
  const header = Buffer.alloc(20);
  const opened = openSync(file, "r");
  try {
    return readSync(opened, header, 0, 20, 0) === 20 && header[18] === 2 && header[19] === 2;
  } finally {
    closeSync(opened);
  }
}
