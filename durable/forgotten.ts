import { type ConnectionRecord, readConnections } from "../policy-api/decision/connections.ts";
import type { PathSample } from "../policy-api/decision/sample.ts";
import { RETENTION_MS } from "./path-rows.ts";
import { type Database, readStored } from "./database.ts";

/** Isolates and TLS edges may still send old news for this long after something was forgotten, milliseconds. */
const NEWS_MS = 60_000;
/** Of more, those that were forgotten first go. */
const FORGOTTEN_MAX = 1_000;

type Columns = { key: string; at_ms: number; open: string };

/** That a row was forgotten. */
interface Mark {
  readonly atMs: number;
  /** Its connections that were still open, with what they had counted by then. */
  readonly open: readonly ConnectionRecord[];
}

/**
 * Rows that were forgotten, by key. News from before, and connections that are still open, must not bring them back, also if the object
 * leaves memory meanwhile. A mark is kept for a minute, or until the row's connections are over: at most as long as any row.
 */
export class Forgotten {
  readonly #marks = new Map<string, Mark>();
  #database: Database | undefined;

  /** Reads what the table has. From now on all is kept there. */
  open(database: Database): void {
    this.#database = database;
    const earlier = [...this.#marks];
    for (const { key, at_ms: atMs, open } of database.all<Columns>("SELECT * FROM forgotten ORDER BY at_ms"))
      this.#marks.set(key, { atMs, open: readStored(open, readConnections) ?? [] });
    for (const [key, mark] of earlier) this.#keep(key, mark);
  }

  /** When this was forgotten, if older news of it may still come. */
  sinceMs(key: string, nowMs: number): number | undefined {
    const atMs = this.#marks.get(key)?.atMs;
    return atMs !== undefined && Math.abs(nowMs - atMs) < NEWS_MS ? atMs : undefined;
  }

  /** What the row begins anew with. */
  openOf(key: string): readonly ConnectionRecord[] {
    return this.#marks.get(key)?.open ?? [];
  }

  add(key: string, open: readonly ConnectionRecord[], nowMs: number): void {
    this.expire(nowMs);
    this.#keep(key, { atMs: nowMs, open });
    const [oldest] = this.#marks.keys();
    if (this.#marks.size > FORGOTTEN_MAX && oldest !== undefined) this.#drop(oldest);
  }

  /** Notes which of a row's connections are over. */
  close(key: string, samples: readonly PathSample[]): void {
    const mark = this.#marks.get(key);
    if (mark === undefined || mark.open.length === 0) return;
    const isOver = ({ id, transport }: ConnectionRecord): boolean =>
      samples.some((one) => one.closing && one.connectionId === id && one.transport === transport);
    const open = mark.open.filter((one) => !isOver(one));
    if (open.length < mark.open.length) this.#keep(key, { ...mark, open });
  }

  /** Drops marks that have ended. @returns when the next one of the table ends; Infinity if it has none */
  expire(nowMs: number): number {
    let nextMs = Infinity;
    for (const [key, { atMs, open }] of this.#marks) {
      const endMs = atMs + (open.length === 0 ? NEWS_MS : RETENTION_MS);
      if (endMs <= nowMs) this.#drop(key);
      else nextMs = Math.min(nextMs, endMs);
    }
    return this.#database === undefined ? Infinity : nextMs;
  }

  #keep(key: string, mark: Mark): void {
    this.#marks.delete(key);
    this.#marks.set(key, mark);
    this.#database?.put("forgotten", { key, at_ms: mark.atMs, open: JSON.stringify(mark.open) }, ["key"]);
  }

  #drop(key: string): void {
    this.#marks.delete(key);
    this.#database?.run("DELETE FROM forgotten WHERE key = ?", key);
  }
}
