import { DurableObject } from "cloudflare:workers";
import {
  applyIncrement,
  applySample,
  inOrder,
  type Level,
  LEVELS,
  openConnectionsOf,
  type PathState,
} from "../policy-api/core/estimator.ts";
import type { Remembered } from "../policy-api/core/history.ts";
import { applyAnswer } from "../policy-api/core/offers.ts";
import { migrate } from "./migrations.ts";
import { EMPTY_ROW, PATH_MIGRATIONS, type PathRow, PathRows, RETENTION_MS } from "./path-rows.ts";
import type { ClientKeys, ClientReport } from "./client-report.ts";

/** A row is written if its last write is at least this old. Until then, changes wait in memory. */
export const WRITE_INTERVAL_MS = 10_000;
/** Expiry reads the whole table, so it runs at most once in an hour. A row may outlive its retention by as much. */
const EXPIRY_INTERVAL_MS = 3_600_000;
/** Isolates and TLS edges may still send old news for this long after a row was forgotten, milliseconds. */
const FORGOTTEN_MS = 60_000;
/** An alarm that is this late will not ring: on one's own machine, workerd's list of alarms may be lost. */
const ALARM_LOST_MS = 60_000;
/** Rows in memory. Each takes about 4 KB of an object's 128 MB. */
const HELD_MAX = 5_000;

interface HeldRow {
  row: PathRow;
  writtenAtMs: number;
}

/**
 * What is known of the clients of many networks. There is one object per region and hash of the network, so that each
 * is warm, near, and bounded in load.
 *
 * Reports are many and writes are expensive. So rows live in memory, and each is written at most every ten seconds: by
 * the report that finds it due, or else by an alarm.
 */
export class PathStore extends DurableObject {
  #rows: PathRows | undefined;
  readonly #held = new Map<string, HeldRow>();
  /**
   * Rows that were forgotten, by key. Older samples and answers, or connections still open, must not bring them back.
   */
  readonly #forgotten = new Map<string, { readonly atMs: number; readonly open: PathState | undefined }>();
  /** Keys of held rows that have changed since they were written. */
  readonly #dirty = new Set<string>();
  /** When the alarm will ring, as far as this instance knows. */
  #alarmAtMs: number | undefined;
  /** When to look for old rows next. 0 in an instance that does not know. */
  #expireAtMs = 0;
  #alarmsSet = 0;

  /** Writes nothing. */
  lookUp(keys: ClientKeys): Remembered {
    const found: { -readonly [F in keyof Remembered]: Remembered[F] } = {};
    for (const level of LEVELS) {
      const name = keys[level];
      const row = name === undefined ? undefined : this.#load(rowKey(level, name))?.row;
      if (row === undefined) continue;
      found[level] = row.state;
      if (level === "client") found.offers = row.offers;
    }
    this.#shrink();
    return found;
  }

  /**
   * Adds what isolates gathered. It is on disk when this resolves, except for rows written less than ten seconds ago.
   */
  async record(reports: readonly ClientReport[]): Promise<void> {
    const nowMs = Date.now();
    for (const report of reports) this.#add(report, nowMs);
    this.#writeDue(nowMs);
    this.#shrink();
    await this.#schedule(nowMs);
  }

  /**
   * Forgets a client or a network: in memory, in the table, and news that is still on its way here. The row's bytes may
   * stay on the disk until later rows use their space.
   *
   * @returns whether there was anything to forget.
   */
  forget(what: { readonly client: string } | { readonly network: string }): boolean {
    const key = "client" in what ? rowKey("client", what.client) : rowKey("network", what.network);
    const nowMs = Date.now();
    for (const [forgotten, { atMs }] of this.#forgotten)
      if (atMs <= nowMs - FORGOTTEN_MS) this.#forgotten.delete(forgotten);
    const row = this.#load(key)?.row;
    this.#forgotten.set(key, { atMs: nowMs, open: row && openConnectionsOf(row.state) });
    this.#held.delete(key);
    this.#dirty.delete(key);
    this.#table()?.delete(key);
    return row !== undefined;
  }

  /** What this instance wrote so far, as Cloudflare bills it: rows with their index entries, and alarms. */
  writes(): { rows: number; alarms: number } {
    return { rows: this.#rows?.written ?? 0, alarms: this.#alarmsSet };
  }

  override async alarm(): Promise<void> {
    const nowMs = Date.now();
    this.#alarmAtMs = undefined;
    for (const key of this.#dirty) this.#write(key, nowMs);
    if (this.#expireAtMs <= nowMs) {
      const oldestMs = this.#table()?.expire(nowMs);
      for (const [key, held] of this.#held) if (held.row.lastAtMs <= nowMs - RETENTION_MS) this.#held.delete(key);
      if (oldestMs === undefined) {
        // Nothing is left: delete the schema too.
        await this.ctx.storage.deleteAlarm();
        await this.ctx.storage.deleteAll();
        this.#rows = undefined;
        this.#held.clear();
        return;
      }
      this.#expireAtMs = Math.max(oldestMs + RETENTION_MS, nowMs + EXPIRY_INTERVAL_MS);
    }
    await this.#wakeAt(this.#expireAtMs);
  }

  #add(whole: ClientReport, nowMs: number): void {
    const clientKey = rowKey("client", whole.client);
    const report = this.#since(this.#forgotten.get(clientKey)?.atMs, whole);
    if (report === undefined) return;
    const client = this.#loadOrBegin(clientKey);
    let { state } = client.row;
    let added = inOrder(report.samples).map((sample) => {
      const { state: next, onward } = applySample(state, sample);
      state = next;
      return onward;
    });
    const offers = report.answers.reduce(applyAnswer, client.row.offers);
    client.row = { state, offers, lastAtMs: nowMs, network: report.network };
    this.#dirty.add(clientKey);
    // Each level passes a bounded share of it on to the next: the network, then its autonomous system.
    for (const level of LEVELS) {
      const name = report[level];
      if (level === "client" || name === undefined) continue;
      const key = rowKey(level, name);
      const forgottenAtMs = this.#forgotten.get(key)?.atMs ?? Number.NEGATIVE_INFINITY;
      const counted = added.filter(({ atMs }) => atMs > forgottenAtMs);
      if (counted.length === 0) continue;
      const held = this.#loadOrBegin(key);
      let { state: levelState } = held.row;
      added = counted.map((increment) => {
        const { state: next, onward } = applyIncrement(levelState, increment);
        levelState = next;
        return onward;
      });
      held.row = { ...held.row, state: levelState, lastAtMs: nowMs };
      this.#dirty.add(key);
    }
  }

  /** The part of a report that is newer than the time when its client was forgotten. Undefined if nothing is. */
  #since(forgottenAtMs: number | undefined, report: ClientReport): ClientReport | undefined {
    if (forgottenAtMs === undefined) return report;
    const samples = report.samples.filter(({ atMs }) => atMs > forgottenAtMs);
    const answers = report.answers.filter(({ atMs }) => atMs > forgottenAtMs);
    return samples.length + answers.length === 0 ? undefined : { ...report, samples, answers };
  }

  #writeDue(nowMs: number): void {
    for (const key of this.#dirty)
      if ((this.#held.get(key)?.writtenAtMs ?? 0) + WRITE_INTERVAL_MS <= nowMs) this.#write(key, nowMs);
  }

  #write(key: string, nowMs: number): void {
    const held = this.#held.get(key);
    this.#dirty.delete(key);
    if (held === undefined) return;
    this.#tableOrCreate().write(key, held.row);
    held.writtenAtMs = nowMs;
  }

  /** There is one alarm for both: for the first row that is due to be written, and for rows that will expire. */
  async #schedule(nowMs: number): Promise<void> {
    let atMs = Math.max(this.#expireAtMs, nowMs + EXPIRY_INTERVAL_MS);
    for (const key of this.#dirty)
      atMs = Math.min(atMs, (this.#held.get(key)?.writtenAtMs ?? nowMs) + WRITE_INTERVAL_MS);
    await this.#wakeAt(atMs);
  }

  async #wakeAt(atMs: number): Promise<void> {
    this.#alarmAtMs ??= (await this.ctx.storage.getAlarm()) ?? undefined;
    const setAtMs = this.#alarmAtMs;
    if (setAtMs !== undefined && setAtMs <= atMs && setAtMs > Date.now() - ALARM_LOST_MS) return;
    this.#alarmAtMs = atMs;
    this.#alarmsSet++;
    await this.ctx.storage.setAlarm(atMs);
  }

  #load(key: string): HeldRow | undefined {
    const held = this.#held.get(key);
    if (held !== undefined) {
      // Most recently used last, so that #shrink meets the oldest first.
      this.#held.delete(key);
      this.#held.set(key, held);
      return held;
    }
    const row = this.#table()?.read(key);
    if (row === undefined) return undefined;
    // The row was written when it was last heard of, or a little later.
    const loaded: HeldRow = { row, writtenAtMs: row.lastAtMs };
    this.#held.set(key, loaded);
    return loaded;
  }

  #loadOrBegin(key: string): HeldRow {
    const loaded = this.#load(key);
    if (loaded !== undefined) return loaded;
    const open = this.#forgotten.get(key)?.open;
    const begun: HeldRow = { row: open === undefined ? EMPTY_ROW : { ...EMPTY_ROW, state: open }, writtenAtMs: 0 };
    this.#held.set(key, begun);
    return begun;
  }

  #shrink(): void {
    for (const key of this.#held.keys()) {
      if (this.#held.size <= HELD_MAX) return;
      // More clients in ten seconds than memory holds: they are written before they are due.
      if (this.#dirty.has(key)) this.#write(key, Date.now());
      this.#held.delete(key);
    }
  }

  /** The table. Undefined if nothing was ever recorded: a look-up must not create the schema. */
  #table(): PathRows | undefined {
    if (this.#rows !== undefined) return this.#rows;
    const exists = this.ctx.storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'paths'").toArray().length > 0;
    return exists ? this.#tableOrCreate() : undefined;
  }

  #tableOrCreate(): PathRows {
    if (this.#rows === undefined) {
      migrate(this.ctx.storage, PATH_MIGRATIONS);
      this.#rows = new PathRows(this.ctx.storage.sql);
    }
    return this.#rows;
  }
}

/** @param name Which client, network or autonomous system: the field of ClientKeys. */
function rowKey(level: Level, name: string | number): string {
  return `${level} ${name}`;
}
