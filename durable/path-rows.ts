import type { Database } from "./database.ts";
import { EMPTY_ROW, type PathRow, readState, stateText } from "./path-row.ts";

/**
 * A migration that changes `paths` must change the tables that were set aside too (`paths_` and a number), or drop them.
 */
export const PATH_MIGRATIONS = [
  (sql: SqlStorage): void => {
    // WITHOUT ROWID: Cloudflare bills each index entry as a row. In the key's own tree a new row is one write, and not two.
    // The state is last: expiry and a full table read only what stands before it.
    sql.exec(`CREATE TABLE paths (
      key TEXT PRIMARY KEY,
      last_at_ms INTEGER NOT NULL,
      network TEXT NOT NULL,
      packets INTEGER NOT NULL,
      state TEXT NOT NULL
    ) WITHOUT ROWID`);
    // The time stands before the long column: expiry reads it.
    sql.exec(`CREATE TABLE outcomes (
      version INTEGER NOT NULL,
      arm TEXT NOT NULL,
      key TEXT NOT NULL,
      at_ms INTEGER NOT NULL,
      state TEXT NOT NULL,
      PRIMARY KEY (version, arm, key)
    )`);
    // What was forgotten, so that it does not come back after the object left memory (forgotten.ts).
    sql.exec("CREATE TABLE forgotten (key TEXT PRIMARY KEY, at_ms INTEGER NOT NULL, open TEXT NOT NULL) WITHOUT ROWID");
  },
  (sql: SqlStorage): void => {
    // Before, there were rows of networks, autonomous systems and the site, and what a client gave to them.
    const tables = sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE name GLOB 'paths*'").toArray();
    for (const { name } of tables) {
      sql.exec(`DELETE FROM ${name} WHERE key NOT GLOB 'client *'`);
      sql.exec(`UPDATE ${name} SET state = json_remove(state, '$.client.given') WHERE json_valid(state)`);
    }
  },
];

/** How many rows a store may hold. */
export const ROWS_MAX = 20_000;
/** A network whose clients have more rows than this gives them up first, so that one network cannot push out others. */
const NETWORK_ROWS = 32;
/** How long a row is there after its last write, at most: three half-lives of what is known. */
export const RETENTION_MS = 72 * 3_600_000;
/**
 * Cloudflare bills each row that is deleted, and a table that is dropped is no row (README.md says what that saves). So the table of rows
 * is set aside when its oldest row is this old, and dropped later as a whole.
 */
export const SPAN_MS = 12 * 3_600_000;
/** How long after that: so that its oldest row is not there for longer than it may be, also if alarms ring up to two hours late. */
export const ASIDE_MS = 58 * 3_600_000;
/** A client with fewer known packets goes first. */
const PACKETS_WORTH_KEEPING = 100;

/** The name of a table that was set aside: when that was, milliseconds since the epoch. */
const ASIDE = "paths_";

type Columns = { last_at_ms: number; network: string; state: string };

interface Table {
  readonly name: string;
  /** When it is to be dropped. Infinity: it is the one that is written. */
  readonly dropAtMs: number;
}

/**
 * The table of paths: reading, writing, and keeping it bounded. Rows are written to `paths`. Rows that were written longer ago lie in
 * tables that were set aside, and count where no newer one has their key.
 */
export class PathRows {
  readonly #database: Database;
  #known: readonly Table[] | undefined;
  #count: number | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Undefined without a row that can be read: a corrupt row counts as a missing row. */
  read(key: string): PathRow | undefined {
    for (const { name } of this.#tables()) {
      const found = this.#database.all<Columns>(`SELECT * FROM ${name} WHERE key = ?`, key)[0];
      if (found === undefined) continue;
      const state = readState(found.state);
      return state && { ...EMPTY_ROW, lastAtMs: found.last_at_ms, network: found.network, ...state };
    }
    return undefined;
  }

  /** @returns whether other rows gave way to it. */
  write(key: string, row: PathRow): boolean {
    const isNew = this.#database.all("SELECT 1 FROM paths WHERE key = ?", key).length === 0;
    const gaveWay = isNew && this.#makeRoom();
    const { lastAtMs: last_at_ms, network, client } = row;
    const packets = client.connections.reduce(
      (sum, { packetsSent, forgotten }) => sum + packetsSent - (forgotten?.packetsSent ?? 0),
      0,
    );
    this.#database.put("paths", { key, last_at_ms, network, packets, state: stateText(row) }, ["key"]);
    if (isNew && this.#count !== undefined) this.#count++;
    return gaveWay;
  }

  delete(key: string): void {
    this.#count = undefined;
    for (const { name } of this.#tables()) this.#database.run(`DELETE FROM ${name} WHERE key = ?`, key);
  }

  /**
   * Sets the table aside if it is due, and drops those that have been aside for long enough. It reads all tables, so do not call it often. Call
   * it in a transaction.
   *
   * @returns when it has something to do again; Infinity without rows.
   */
  expire(nowMs: number): number {
    this.#count = undefined;
    for (const { name, dropAtMs } of this.#tables()) if (dropAtMs <= nowMs) this.#database.run(`DROP TABLE ${name}`);
    this.#known = undefined;
    // There are none but after a long sleep.
    for (const { name } of this.#tables())
      this.#database.run(`DELETE FROM ${name} WHERE last_at_ms <= ?`, nowMs - RETENTION_MS);
    if (this.#oldestMs("paths") <= nowMs - SPAN_MS) {
      const { sql } = this.#database.sql
        .exec<{ sql: string }>("SELECT sql FROM sqlite_master WHERE name = 'paths'")
        .one();
      this.#database.run(`ALTER TABLE paths RENAME TO ${ASIDE}${nowMs}`);
      this.#database.run(sql);
      this.#known = undefined;
    }
    const dues = this.#tables().map(({ name, dropAtMs }) => {
      const oldestMs = this.#oldestMs(name);
      return oldestMs === Infinity
        ? Infinity
        : Math.min(dropAtMs, oldestMs + (name === "paths" ? SPAN_MS : RETENTION_MS));
    });
    return Math.min(...dues);
  }

  /** Reads all tables. @returns how many rows there are, and when the oldest was last heard of, if there is one */
  extent(): { rows: number; oldestAtMs: number | undefined } {
    const { n, at } = this.#database.sql
      .exec<{ n: number; at: number | null }>(
        `SELECT COUNT(*) AS n, MIN(last_at_ms) AS at FROM (${this.#all("last_at_ms")})`,
      )
      .one();
    return { rows: n, oldestAtMs: at ?? undefined };
  }

  /**
   * Full tables give up a twentieth of their rows, so that this is rare. First go the rows of networks that have more
   * than their share, then those of clients of whom nothing is known yet, then those that were not heard of for longest.
   *
   * @returns whether rows gave way.
   */
  #makeRoom(): boolean {
    if ((this.#count ??= this.extent().rows) < ROWS_MAX) return false;
    // Of a key's rows the newest counts (SQLite takes the other columns from the row with the maximum), and all of them go.
    const chosen = this.#database.all<{ id: string }>(
      `SELECT id FROM (
         SELECT key AS id, network, packets, at, ROW_NUMBER() OVER (
           PARTITION BY CASE network WHEN '' THEN key ELSE network END ORDER BY packets DESC, at DESC
         ) AS place FROM (
           SELECT key, network, packets, MAX(last_at_ms) AS at
           FROM (${this.#all("key, network, packets, last_at_ms")}) GROUP BY key
         )
       ) ORDER BY MAX(place, ?) DESC, network = '' OR packets >= ?, at LIMIT ?`,
      NETWORK_ROWS,
      PACKETS_WORTH_KEEPING,
      ROWS_MAX / 20,
    );
    const keys = JSON.stringify(chosen.map(({ id }) => id));
    for (const { name } of this.#tables())
      this.#database.run(`DELETE FROM ${name} WHERE key IN (SELECT value FROM json_each(?))`, keys);
    this.#count = undefined;
    return true;
  }

  /** Infinity without rows. */
  #oldestMs(table: string): number {
    const query = `SELECT MIN(last_at_ms) AS at FROM ${table}`;
    return this.#database.sql.exec<{ at: number | null }>(query).one().at ?? Infinity;
  }

  /** The newest first. */
  #tables(): readonly Table[] {
    return (this.#known ??= this.#database
      .all<{ name: string }>("SELECT name FROM sqlite_master WHERE name = 'paths' OR name GLOB ?", `${ASIDE}[0-9]*`)
      .map(({ name }) => ({
        name,
        dropAtMs: name === "paths" ? Infinity : Number(name.slice(ASIDE.length)) + ASIDE_MS,
      }))
      .sort((a, b) => (a.dropAtMs < b.dropAtMs ? 1 : -1)));
  }

  /** Rows of all tables. */
  #all(columns: string): string {
    return this.#tables()
      .map(({ name }) => `SELECT ${columns} FROM ${name}`)
      .join(" UNION ALL ");
  }
}
