import { type CountedPage, parseCountedPages } from "../policy-api/visitors/counted-pages.ts";
import { type ClientState, EMPTY_CLIENT } from "../policy-api/decision/levels.ts";
import { EMPTY_LEVEL, type LevelState } from "../policy-api/decision/mix.ts";
import { ANY_ORIGIN, NO_OFFER, type OfferState, type OriginOffers } from "../policy-api/decision/offers.ts";
import { parseClientState, parseIgnored, parseLevelState, parseOrigins } from "../policy-api/decision/parse-state.ts";
import { type AssignedClient, parseAssignedClient } from "../policy-api/visitors/assigned-client.ts";
import type { Lost } from "./outcome-rows.ts";
import { readStored } from "./read-stored.ts";

/** What a further one changes of `paths`, it must change of the tables that were set aside (`paths_` and a number) too, or drop them. */
export const PATH_MIGRATIONS = [
  (sql: SqlStorage): void => {
    // Not WITHOUT ROWID: such a table keeps only a quarter of a page of each row in the tree, and our rows are longer.
    // The index on the key costs one write, when a row is created.
    sql.exec(`CREATE TABLE paths (
      key TEXT PRIMARY KEY,
      state TEXT NOT NULL,
      offer_until_ms INTEGER NOT NULL,
      offer_answered_at_ms INTEGER NOT NULL,
      offering INTEGER NOT NULL,
      last_at_ms INTEGER NOT NULL
    )`);
  },
  (sql: SqlStorage): void => {
    // What clients did with offers: when they last took one, and when they ignored some.
    sql.exec("ALTER TABLE paths ADD COLUMN offer_taken_at_ms INTEGER NOT NULL DEFAULT 0");
    sql.exec("ALTER TABLE paths ADD COLUMN offers_ignored_at_ms TEXT NOT NULL DEFAULT '[]'");
  },
  (sql: SqlStorage): void => {
    // What a full table chooses by. An empty network: the row is no client's, or it is from before this column.
    sql.exec("ALTER TABLE paths ADD COLUMN network TEXT NOT NULL DEFAULT ''");
    sql.exec("ALTER TABLE paths ADD COLUMN packets INTEGER NOT NULL DEFAULT 0");
  },
  (sql: SqlStorage): void => {
    // Pages of a client whose reports were counted, so that none counts twice.
    sql.exec("ALTER TABLE paths ADD COLUMN counted_pages TEXT NOT NULL DEFAULT '[]'");
  },
  (sql: SqlStorage): void => {
    // What clients of drawn arms did, and what it adds up to. The time stands before the long columns: expiry reads it.
    sql.exec("ALTER TABLE paths ADD COLUMN assigned TEXT");
    sql.exec(`CREATE TABLE outcomes (
      version INTEGER NOT NULL,
      arm TEXT NOT NULL,
      key TEXT NOT NULL,
      at_ms INTEGER NOT NULL,
      sums TEXT NOT NULL,
      load TEXT NOT NULL,
      lcp TEXT NOT NULL,
      PRIMARY KEY (version, arm, key)
    )`);
  },
  (sql: SqlStorage): void => {
    // Cloudflare bills each index entry as a row. In the key's own tree a new row is one write, and not two. The columns keep their
    // order: the version before this one writes by it, if somebody goes back to that.
    sql.exec(`CREATE TABLE paths_by_key (
      key TEXT PRIMARY KEY,
      state TEXT NOT NULL,
      offer_until_ms INTEGER NOT NULL,
      offer_answered_at_ms INTEGER NOT NULL,
      offering INTEGER NOT NULL,
      last_at_ms INTEGER NOT NULL,
      offer_taken_at_ms INTEGER NOT NULL DEFAULT 0,
      offers_ignored_at_ms TEXT NOT NULL DEFAULT '[]',
      network TEXT NOT NULL DEFAULT '',
      packets INTEGER NOT NULL DEFAULT 0,
      counted_pages TEXT NOT NULL DEFAULT '[]',
      assigned TEXT
    ) WITHOUT ROWID`);
    sql.exec("INSERT INTO paths_by_key SELECT * FROM paths");
    sql.exec("DROP TABLE paths");
    sql.exec("ALTER TABLE paths_by_key RENAME TO paths");
  },
  (sql: SqlStorage): void => {
    // Offers by origin. The columns of before go on saying what the version before this one reads: those of the last answered.
    const tables = sql.exec<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND (name = 'paths' OR name GLOB ?)",
      ASIDE_PATTERN,
    );
    for (const { name } of tables.toArray())
      sql.exec(`ALTER TABLE ${name} ADD COLUMN offer_origins TEXT NOT NULL DEFAULT '[]'`);
  },
  (sql: SqlStorage): void => {
    // What was forgotten, so that it does not come back after the object left memory (forgotten.ts).
    sql.exec("CREATE TABLE forgotten (key TEXT PRIMARY KEY, at_ms INTEGER NOT NULL, open TEXT NOT NULL) WITHOUT ROWID");
  },
];

/** A row as memory holds it: of a client, or of a level above. The other of the two states is empty. */
export interface PathRow {
  readonly client: ClientState;
  readonly level: LevelState;
  readonly offers: OfferState;
  /** Pages of a client whose reports were counted within the hour. */
  readonly countedPages: readonly CountedPage[];
  /** What a client did in its period of assignment, as the sums of outcomes have it. Undefined: in no drawn arm so far. */
  readonly assigned: AssignedClient | undefined;
  /** When the last report about it came: expiry and eviction go by it. */
  readonly lastAtMs: number;
  /** A client's network. Empty for rows of other levels. */
  readonly network: string;
}

export const EMPTY_ROW: PathRow = {
  client: EMPTY_CLIENT,
  level: EMPTY_LEVEL,
  offers: NO_OFFER,
  countedPages: [],
  assigned: undefined,
  lastAtMs: 0,
  network: "",
};

/** Rows of clients have keys that begin so. */
export const CLIENT_PREFIX = "client ";

/** How many rows a store may hold. */
export const ROWS_MAX = 20_000;
/** A network whose clients have more rows than this gives them up first, so that one network cannot push out others. */
export const NETWORK_ROWS = 32;
/** How long a row is there after its last write, at most: three half-lives of what is known. */
export const RETENTION_MS = 72 * 3_600_000;
/**
 * Cloudflare bills each row that is deleted, and a table that is dropped is no row. So the table of rows is set aside when its oldest row is
 * this old, and dropped later as a whole.
 */
export const SPAN_MS = 12 * 3_600_000;
/** How long after that: so that its oldest row is not there for longer than it may be, also if alarms ring up to two hours late. */
export const ASIDE_MS = 58 * 3_600_000;
/** A client of whom fewer packets are known goes first. */
const TELLS_PACKETS = 100;

type Columns = {
  state: string;
  offer_until_ms: number;
  offer_answered_at_ms: number;
  offering: number;
  last_at_ms: number;
  offer_taken_at_ms: number;
  offers_ignored_at_ms: string;
  network: string;
  counted_pages: string;
  assigned: string | null;
  offer_origins: string;
};

/** The name of a table that was set aside: when that was, milliseconds since the epoch. */
const ASIDE = "paths_";
const ASIDE_PATTERN = `${ASIDE}[0-9]*`;

/** A table that was set aside. Its rows were written before. */
interface Aside {
  readonly name: string;
  readonly atMs: number;
}

/**
 * The table of paths: reading, writing, and keeping it bounded. Rows are written to `paths`. Rows that were written longer ago lie in
 * tables that were set aside, and count where no newer one has their key.
 */
export class PathRows {
  /** Rows and index entries that this instance wrote, as SQLite counts them and Cloudflare bills them. */
  written = 0;
  readonly #sql: SqlStorage;
  #aside: readonly Aside[] | undefined;
  #count: number | undefined;
  #gaveWay = false;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Whether rows gave way to others since this was asked last. */
  gaveWay(): boolean {
    const gaveWay = this.#gaveWay;
    this.#gaveWay = false;
    return gaveWay;
  }

  /** Undefined without a row that can be read: a corrupt row counts as a missing row. */
  read(key: string): PathRow | undefined {
    const columns = this.#find(key);
    if (columns === undefined) return undefined;
    const isClient = key.startsWith(CLIENT_PREFIX);
    const client = isClient ? readStored(columns.state, parseClientState) : EMPTY_CLIENT;
    const level = isClient ? EMPTY_LEVEL : readStored(columns.state, parseLevelState);
    if (client === undefined || level === undefined) return undefined;
    return {
      client,
      level,
      offers: {
        origins: originsOf(columns),
        takenAtMs: columns.offer_taken_at_ms,
        ignoredAtMs: readStored(columns.offers_ignored_at_ms, parseIgnored) ?? [],
      },
      countedPages: readStored(columns.counted_pages, parseCountedPages) ?? [],
      assigned: columns.assigned === null ? undefined : readStored(columns.assigned, parseAssignedClient),
      lastAtMs: columns.last_at_ms,
      network: columns.network,
    };
  }

  write(key: string, row: PathRow): void {
    const known = this.#sql.exec("SELECT 1 FROM paths WHERE key = ?", key).toArray().length > 0;
    if (!known) this.#makeRoom();
    const [newest] = row.offers.origins;
    const cursor = this.#sql.exec(
      `INSERT INTO paths (
         key, state, offer_until_ms, offer_answered_at_ms, offering, last_at_ms, offer_taken_at_ms, offers_ignored_at_ms,
         network, packets, counted_pages, assigned, offer_origins
       ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET
         state = excluded.state, offer_until_ms = excluded.offer_until_ms,
         offer_answered_at_ms = excluded.offer_answered_at_ms, offering = excluded.offering,
         last_at_ms = excluded.last_at_ms, offer_taken_at_ms = excluded.offer_taken_at_ms,
         offers_ignored_at_ms = excluded.offers_ignored_at_ms, network = excluded.network, packets = excluded.packets,
         counted_pages = excluded.counted_pages, assigned = excluded.assigned, offer_origins = excluded.offer_origins`,
      key,
      JSON.stringify(key.startsWith(CLIENT_PREFIX) ? row.client : row.level),
      newest?.untilMs ?? 0,
      newest?.answeredAtMs ?? 0,
      newest?.offering === true ? 1 : 0,
      row.lastAtMs,
      row.offers.takenAtMs,
      JSON.stringify(row.offers.ignoredAtMs),
      row.network,
      row.client.connections.reduce(
        (sum, { packetsSent, forgotten }) => sum + packetsSent - (forgotten?.packetsSent ?? 0),
        0,
      ),
      JSON.stringify(row.countedPages),
      row.assigned === undefined ? null : JSON.stringify(row.assigned),
      JSON.stringify(row.offers.origins),
    );
    this.written += cursor.rowsWritten;
    if (!known && this.#count !== undefined) this.#count++;
  }

  /** Takes out of all clients' rows what was in sums that are gone. It reads the whole table. */
  forgetOutcomes({ versions, keys }: Lost): void {
    // json_extract fails on text that is no JSON.
    const read = "CASE WHEN json_valid(assigned) THEN json_extract(assigned, '$.version') END";
    for (const table of this.#tables()) {
      for (const version of versions)
        this.#change(
          `UPDATE ${table} SET assigned = json_set(assigned, '$.rows', json('{}')) WHERE ${read} = ?`,
          version,
        );
      for (const { version, arm, key } of keys)
        this.#change(
          `UPDATE ${table} SET assigned = json_remove(assigned, ?1) WHERE CASE ${read} WHEN ?2
             THEN json_extract(assigned, '$.arm') = ?3 AND json_type(assigned, ?1) IS NOT NULL END`,
          `$.rows."${key}"`,
          version,
          arm,
        );
    }
  }

  /** @returns whether there was such a row. */
  delete(key: string): boolean {
    this.#count = undefined;
    return this.#tables()
      .map((table) => this.#change(`DELETE FROM ${table} WHERE key = ?`, key))
      .some((rows) => rows > 0);
  }

  /**
   * Sets the table aside if it is due, and drops those that have been aside for long enough. It reads all tables, so do not call it often. Call
   * it in a transaction.
   *
   * @returns when it has something to do again; undefined without rows.
   */
  expire(nowMs: number): number | undefined {
    this.#count = undefined;
    for (const { name, atMs } of this.#setAside()) if (atMs + ASIDE_MS <= nowMs) this.#change(`DROP TABLE ${name}`);
    this.#aside = undefined;
    // None but after a long sleep, or of an older version, which set no table aside.
    for (const table of this.#tables())
      this.#change(`DELETE FROM ${table} WHERE last_at_ms <= ?`, nowMs - RETENTION_MS);
    if ((this.#oldestMs("paths") ?? nowMs) <= nowMs - SPAN_MS) {
      const { sql } = this.#sql.exec<{ sql: string }>("SELECT sql FROM sqlite_master WHERE name = 'paths'").one();
      const name = `${ASIDE}${nowMs}`;
      this.#change(`ALTER TABLE paths RENAME TO ${name}`);
      this.#change(sql);
      this.#aside = undefined;
    }
    const due = this.#tables().flatMap((table, i) => {
      const oldestMs = this.#oldestMs(table);
      const asideAtMs = this.#setAside()[i - 1]?.atMs;
      if (oldestMs === undefined) return [];
      return [asideAtMs === undefined ? oldestMs + SPAN_MS : Math.min(asideAtMs + ASIDE_MS, oldestMs + RETENTION_MS)];
    });
    return due.length === 0 ? undefined : Math.min(...due);
  }

  count(): number {
    return (this.#count ??= this.extent().rows);
  }

  /** Reads all tables. @returns how many rows there are, and when the oldest was last heard of, if there is one */
  extent(): { rows: number; oldestAtMs: number | undefined } {
    const { n, at } = this.#sql
      .exec<{ n: number; at: number | null }>(
        `SELECT COUNT(*) AS n, MIN(last_at_ms) AS at FROM (${this.#every("last_at_ms")})`,
      )
      .one();
    return { rows: n, oldestAtMs: at ?? undefined };
  }

  /**
   * Full tables give up a twentieth of their rows, so that this is rare. First go the rows of networks that have more
   * than their share, then those of clients of whom nothing is known yet, then those that were not heard of for longest.
   */
  #makeRoom(): void {
    if (this.count() < ROWS_MAX) return;
    this.#gaveWay = true;
    // Of a key's rows the newest counts (SQLite takes the other columns from the row with the maximum), and all of them go.
    const chosen = this.#sql
      .exec<{ id: string }>(
        `SELECT id FROM (
           SELECT key AS id, network, packets, at, ROW_NUMBER() OVER (
             PARTITION BY CASE network WHEN '' THEN key ELSE network END ORDER BY packets DESC, at DESC
           ) AS place FROM (
             SELECT key, network, packets, MAX(last_at_ms) AS at
             FROM (${this.#every("key, network, packets, last_at_ms")}) GROUP BY key
           )
         ) ORDER BY MAX(place, ?) DESC, network = '' OR packets >= ?, at LIMIT ?`,
        NETWORK_ROWS,
        TELLS_PACKETS,
        ROWS_MAX / 20,
      )
      .toArray();
    const keys = JSON.stringify(chosen.map(({ id }) => id));
    for (const table of this.#tables())
      this.#change(`DELETE FROM ${table} WHERE key IN (SELECT value FROM json_each(?))`, keys);
    this.#count = undefined;
  }

  #oldestMs(table: string): number | undefined {
    return this.#sql.exec<{ at: number | null }>(`SELECT MIN(last_at_ms) AS at FROM ${table}`).one().at ?? undefined;
  }

  #find(key: string): Columns | undefined {
    for (const table of this.#tables()) {
      const [columns] = this.#sql.exec<Columns>(`SELECT * FROM ${table} WHERE key = ?`, key).toArray();
      if (columns !== undefined) return columns;
    }
    return undefined;
  }

  /** Newest first. */
  #tables(): readonly string[] {
    return ["paths", ...this.#setAside().map(({ name }) => name)];
  }

  /** Newest first. */
  #setAside(): readonly Aside[] {
    return (this.#aside ??= this.#sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB ?", ASIDE_PATTERN)
      .toArray()
      .map(({ name }) => ({ name, atMs: Number(name.slice(ASIDE.length)) }))
      .sort((a, b) => b.atMs - a.atMs));
  }

  /** Rows of all tables. */
  #every(columns: string): string {
    return this.#tables()
      .map((table) => `SELECT ${columns} FROM ${table}`)
      .join(" UNION ALL ");
  }

  /** @returns how many rows it wrote. */
  #change(sql: string, ...values: (string | number)[]): number {
    const cursor = this.#sql.exec(sql, ...values);
    this.written += cursor.rowsWritten;
    return cursor.rowsWritten;
  }
}

/** The offers of each origin. Of a row of before they were told apart: what it says stands for all. */
function originsOf(columns: Columns): readonly OriginOffers[] {
  const { offer_until_ms: untilMs, offer_answered_at_ms: answeredAtMs, offering, offer_origins: text } = columns;
  if (text !== "[]" || answeredAtMs === 0) return readStored(text, parseOrigins) ?? [];
  return [{ origin: ANY_ORIGIN, untilMs, answeredAtMs, offering: offering === 1 }];
}
