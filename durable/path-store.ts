import { DurableObject } from "cloudflare:workers";
import type { Extent } from "../policy-api/api/counters/extent.ts";
import { forgottenOf } from "../policy-api/decision/connections.ts";
import type { Remembered } from "../policy-api/decision/history.ts";
import type { OutcomeRow } from "../policy-api/visitors/gathered.ts";
import { changesOf, withoutKeys } from "../policy-api/visitors/sums-change.ts";
import { addReport, newsSince } from "./add-report.ts";
import { type CachedRow, needsWrite } from "./cached-row.ts";
import type { ClientKeys, ClientReport, RefusedPages } from "./client-report.ts";
import { Database } from "./database.ts";
import { Forgotten } from "./forgotten.ts";
import { migrate } from "./migrations.ts";
import { OutcomeRows } from "./outcome-rows.ts";
import { clientKey, EMPTY_ROW, type PathRow } from "./path-row.ts";
import { PATH_MIGRATIONS, PathRows, RETENTION_MS } from "./path-rows.ts";

/**
 * Sums, and rows of clients that add to them, are written together, at most once in this time, milliseconds. Another
 * client's row is written at once: it seldom changes twice within ten seconds, and what waits needs an alarm, which is billed as a row
 * twice: when it is set, and when it sets the next one.
 */
const WRITE_INTERVAL_MS = 10_000;
/** Expiry reads the whole table, so it runs at most once in an hour. A row may outlive its retention by as much. */
const EXPIRY_INTERVAL_MS = 3_600_000;
/** An alarm that is this late will not ring: on one's own machine, workerd's list of alarms may be lost. */
const ALARM_LOST_MS = 60_000;
/**
 * Rows in memory. Each takes about 4 KB of an object's 128 MB, and twice that while it waits to be written. What a client of a drawn arm did
 * is 1 KB of that, and at most 4.5 KB: 24 keys. So all rows take 75 MB at most.
 */
export const CACHED_MAX = 5_000;

interface Tables {
  readonly database: Database;
  readonly rows: PathRows;
  readonly outcomes: OutcomeRows;
}

/**
 * What is known of the clients of many networks. There is one object per region and hash of the network, so that each
 * is warm, near, and bounded in load.
 *
 * Reports are many and writes are expensive. So rows live in memory, and most are written at most every ten seconds: by the report that
 * finds them due, or else by an alarm. A client's row is written only if what changed can change an answer (cached-row.ts).
 *
 * What clients of drawn arms did is added up in sums of outcomes. The sums are written in one transaction with the rows of all clients that
 * add to them. So a crash loses both or neither, and the sums are always those of the rows as they were written.
 */
export class PathStore extends DurableObject {
  #tables: Tables | undefined;
  readonly #cache = new Map<string, CachedRow>();
  #forgotten = new Forgotten();
  /** Those that wait to be written. */
  readonly #dirty = new Map<string, CachedRow>();
  /** When the alarm will ring, as far as this instance knows. */
  #alarmAtMs: number | undefined;
  /** When to look for old rows next. 0 in an instance that does not know. */
  #expireAtMs = 0;
  #alarmsSet = 0;
  /** When what waits was last written. 0 in an instance that has not written any. */
  #flushedAtMs = 0;

  /** Writes nothing. */
  lookUp(keys: Pick<ClientKeys, "client">): Remembered {
    const remembered: { -readonly [F in keyof Remembered]: Remembered[F] } = {};
    const client = this.#load(clientKey(keys.client))?.row;
    if (client !== undefined) {
      remembered.client = client.client;
      remembered.offers = client.offers;
      const { assigned } = client;
      if (assigned !== undefined) remembered.decided = { period: assigned.period, atMs: assigned.atMs };
    }
    this.#shrink(true);
    return remembered;
  }

  /**
   * Adds what isolates gathered. It is on disk when this resolves, except for what changes no answer, and for rows that are not yet due
   * again.
   */
  async record(reports: readonly ClientReport[]): Promise<RefusedPages> {
    const nowMs = Date.now();
    const all = { replayed: 0, crowded: 0 };
    for (const report of reports) {
      const refused = this.#add(report, nowMs);
      all.replayed += refused?.replayed ?? 0;
      all.crowded += refused?.crowded ?? 0;
    }
    const isDue = Math.abs(nowMs - this.#flushedAtMs) >= WRITE_INTERVAL_MS;
    this.#write(isDue ? this.#dirty : [...this.#dirty].filter((one) => !waits(one)), nowMs);
    this.#shrink();
    const laterMs = Math.max(this.#expireAtMs, nowMs + EXPIRY_INTERVAL_MS);
    await this.#wakeAt(this.#dirty.size === 0 ? laterMs : Math.min(laterMs, this.#flushedAtMs + WRITE_INTERVAL_MS));
    return all;
  }

  /**
   * Forgets a client: in memory, in the table, and news that is still on its way here. The row's bytes may
   * stay on the disk until later rows use their space. What a client added to sums of outcomes stays in them: they have no hash, and
   * nothing says any more which part was its.
   *
   * @returns whether there was anything to forget.
   */
  forget(client: string): boolean {
    const key = clientKey(client);
    const row = this.#load(key)?.row;
    // What was forgotten already may have connections that are still open.
    const open = row === undefined ? this.#forgotten.openOf(key) : forgottenOf(row.client.connections);
    this.#forgotten.add(key, open, Date.now());
    this.#cache.delete(key);
    this.#dirty.delete(key);
    this.#tablesIfAny()?.rows.delete(key);
    return row !== undefined;
  }

  /** What clients of drawn arms add up to under a version, as it was last written. */
  outcomes(version: number): OutcomeRow[] {
    return this.#tablesIfAny()?.outcomes.of(version) ?? [];
  }

  /** How much is kept here. It reads the whole table, which is bounded: for people who ask, and for nothing that asks by itself. */
  extent(): Extent {
    const { rows, oldestAtMs } = this.#tablesIfAny()?.rows.extent() ?? { rows: 0, oldestAtMs: undefined };
    return { rows, oldestAtMs, bytes: rows === 0 ? 0 : this.ctx.storage.sql.databaseSize };
  }

  /** What this instance wrote so far, as Cloudflare bills it: rows with their index entries, and alarms. */
  writes(): { rows: number; alarms: number } {
    return { rows: this.#tables?.database.written ?? 0, alarms: this.#alarmsSet };
  }

  override async alarm(): Promise<void> {
    const nowMs = Date.now();
    this.#alarmAtMs = undefined;
    this.#write(this.#dirty, nowMs);
    if (this.#expireAtMs <= nowMs) {
      const expireAtMs = this.#expire(nowMs);
      for (const [key, { row }] of this.#cache) if (row.lastAtMs <= nowMs - RETENTION_MS) this.#cache.delete(key);
      if (expireAtMs === Infinity) {
        // Nothing is left: delete the schema too.
        await this.ctx.storage.deleteAlarm();
        await this.ctx.storage.deleteAll();
        this.#tables = undefined;
        this.#forgotten = new Forgotten();
        this.#cache.clear();
        return;
      }
      this.#expireAtMs = Math.max(expireAtMs, nowMs + EXPIRY_INTERVAL_MS);
    }
    await this.#wakeAt(this.#expireAtMs);
  }

  /** @returns when there is something to do again; Infinity if nothing is left. */
  #expire(nowMs: number): number {
    const hasTables = this.#tablesIfAny() !== undefined;
    const dues = hasTables ? this.#transact(({ rows, outcomes }) => [rows.expire(nowMs), outcomes.expire(nowMs)]) : [];
    // After the tables were read: they say what was forgotten.
    return Math.min(...dues, this.#forgotten.expire(nowMs));
  }

  #add(whole: ClientReport, nowMs: number): RefusedPages | undefined {
    const key = clientKey(whole.client);
    // First what was read: the tables say what was forgotten.
    const tables = this.#tablesIfAny();
    const report = newsSince(whole, this.#forgotten.sinceMs(key, nowMs));
    if (report === undefined) return undefined;
    const cached = this.#loadOrBegin(key);
    const { row, waiting } = cached;
    const added = addReport(
      report,
      {
        row,
        waiting,
        timesBefore: (one) => tables?.outcomes.before(one),
      },
      nowMs,
    );
    this.#forgotten.close(key, report.samples);
    cached.row = added.row;
    cached.waiting = added.waiting;
    if (added.mustWrite || needsWrite(cached)) this.#dirty.set(key, cached);
    return added.refused;
  }

  /** Writes rows, and the sums that they change: all of it or nothing. */
  #write(rows: Iterable<readonly [key: string, cached: CachedRow]>, nowMs: number): void {
    const writing = [...rows];
    if (writing.length === 0) return;
    const changes = changesOf(writing.flatMap(([, { waiting }]) => waiting));
    const { written, gaveWay } = this.#transact((tables) => {
      const isGone = tables.outcomes.apply(changes, nowMs);
      const rowsNow = writing.map(([, { row }]) =>
        row.assigned === undefined ? row : { ...row, assigned: withoutKeys(row.assigned, isGone) },
      );
      const others = writing.filter(([key], i) => tables.rows.write(key, rowsNow[i] ?? EMPTY_ROW));
      return { written: rowsNow, gaveWay: others.length > 0 };
    });
    // Rows that gave way to others may be in memory still: they are not in the table any more.
    if (gaveWay) for (const cached of this.#cache.values()) cached.written = EMPTY_ROW;
    if (writing.some(waits)) this.#flushedAtMs = nowMs;
    for (const [i, [key, cached]] of writing.entries()) {
      cached.row = cached.written = written[i] ?? EMPTY_ROW;
      cached.waiting = [];
      this.#dirty.delete(key);
    }
  }

  #transact<T>(change: (tables: Tables) => T): T {
    const tables = this.#tablesOrCreate();
    try {
      return this.ctx.storage.transactionSync(() => change(tables));
    } catch (error) {
      // What they know of the tables may be wrong now.
      this.#tables = undefined;
      throw error;
    }
  }

  /** There is one alarm for all: for what waits to be written, and for what will expire. */
  async #wakeAt(atMs: number): Promise<void> {
    this.#alarmAtMs ??= (await this.ctx.storage.getAlarm()) ?? undefined;
    const setAtMs = this.#alarmAtMs;
    if (setAtMs !== undefined && setAtMs <= atMs && setAtMs > Date.now() - ALARM_LOST_MS) return;
    this.#alarmAtMs = atMs;
    this.#alarmsSet++;
    await this.ctx.storage.setAlarm(atMs);
  }

  #load(key: string): CachedRow | undefined {
    const cached = this.#cache.get(key);
    if (cached !== undefined) {
      // Most recently used last, so that #shrink meets the oldest first.
      this.#cache.delete(key);
      this.#cache.set(key, cached);
      return cached;
    }
    const row = this.#tablesIfAny()?.rows.read(key);
    return row && this.#keep(key, { row, waiting: [], written: row });
  }

  #loadOrBegin(key: string): CachedRow {
    const loaded = this.#load(key);
    if (loaded !== undefined) return loaded;
    const row: PathRow = { ...EMPTY_ROW, client: { connections: this.#forgotten.openOf(key) } };
    return this.#keep(key, { row, waiting: [], written: EMPTY_ROW });
  }

  #keep(key: string, cached: CachedRow): CachedRow {
    this.#cache.set(key, cached);
    return cached;
  }

  /**
   * Keeps memory bounded.
   *
   * @param onlyClean Whether only rows without changes may go. Otherwise, more clients in ten seconds than memory holds are written
   *   before they are due.
   */
  #shrink(onlyClean = false): void {
    const excess: string[] = [];
    for (const key of this.#cache.keys()) {
      if (this.#cache.size - excess.length <= CACHED_MAX) break;
      if (!onlyClean || !this.#dirty.has(key)) excess.push(key);
    }
    const dirty = excess.flatMap((key) => {
      const cached = this.#dirty.get(key);
      return cached === undefined ? [] : [[key, cached] as const];
    });
    this.#write(dirty, Date.now());
    for (const key of excess) this.#cache.delete(key);
  }

  /** The tables. Undefined if nothing was ever recorded: a look-up must not create the schema. */
  #tablesIfAny(): Tables | undefined {
    if (this.#tables !== undefined) return this.#tables;
    const exists = this.ctx.storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'paths'").toArray().length > 0;
    return exists ? this.#tablesOrCreate() : undefined;
  }

  #tablesOrCreate(): Tables {
    if (this.#tables === undefined) {
      migrate(this.ctx.storage, PATH_MIGRATIONS);
      const database = new Database(this.ctx.storage.sql);
      this.#forgotten.open(database);
      this.#tables = { database, rows: new PathRows(database), outcomes: new OutcomeRows(database) };
    }
    return this.#tables;
  }
}

/** Whether a row waits for others to be written with it. */
function waits([, { waiting }]: readonly [key: string, cached: CachedRow]): boolean {
  return waiting.length > 0;
}
