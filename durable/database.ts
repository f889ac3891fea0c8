import { parse, type Reader } from "../policy-api/decision/parse.ts";

type Row = Record<string, SqlStorageValue>;

/** An object's tables. */
export class Database {
  /** Rows and index entries that this instance wrote, as SQLite counts them and Cloudflare bills them. */
  written = 0;
  readonly sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.sql = sql;
  }

  all<R extends Row>(query: string, ...values: readonly SqlStorageValue[]): R[] {
    const cursor = this.sql.exec<R>(query, ...values);
    const rows = cursor.toArray();
    this.written += cursor.rowsWritten;
    return rows;
  }

  run(query: string, ...values: readonly SqlStorageValue[]): void {
    this.all(query, ...values);
  }

  /**
   * Adds a row.
   *
   * @param key The columns of the key, if the row takes the place of one with the same key. Not by REPLACE, which writes two rows.
   */
  put(table: string, row: Row, key: readonly string[] = []): void {
    const columns = Object.keys(row);
    const updates = columns.filter((column) => !key.includes(column)).map((column) => `${column} = excluded.${column}`);
    const update = key.length === 0 ? "" : `ON CONFLICT (${key.join()}) DO UPDATE SET ${updates.join()}`;
    const places = columns.map(() => "?").join();
    this.run(`INSERT INTO ${table} (${columns.join()}) VALUES (${places}) ${update}`, ...Object.values(row));
  }
}

/** Reads JSON back from a row, which is parsed like any input. Undefined if it has a fault. */
export function readStored<T>(text: string, reader: Reader<T>): T | undefined {
  const parsed = parse(reader, storedJson(text));
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
