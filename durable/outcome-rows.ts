import { DRAWN_ARMS, type DrawnArm } from "../policy-api/decision/assignment.ts";
import { EMPTY_DAY } from "../policy-api/visitors/client-day.ts";
import type { TimesBefore } from "../policy-api/visitors/expected-time.ts";
import { NO_OUTCOMES, type OutcomeRow, type OutcomeSums } from "../policy-api/visitors/gathered.ts";
import { addTime, mergeSketches, parseSketch } from "../policy-api/visitors/quantiles.ts";
import { ASN_PREFIX, EVERYWHERE, RTT_CLASS_MS, rttKey } from "../policy-api/visitors/row-keys.ts";
import { addChange, type OutcomeKey, type SumsChange } from "../policy-api/visitors/sums-change.ts";
import { parseSums, sumsJson } from "../policy-api/visitors/sums.ts";
import { readStored } from "./read-stored.ts";

/** How many versions of the policy have sums. With a further one, those of the version that changed the longest ago go. */
export const VERSIONS_MAX = 16;
/** How many keys a version and arm may have. The largest tables of this repository have about 300 cells. */
export const KEYS_MAX = 1_000;
/** How many of them may be autonomous systems. Those that come first stay. */
export const ASN_KEYS_MAX = 64;
/**
 * How long a row is kept after its last change. A client's part in a row changes for little more than two days, so no client
 * is left that would take its part out of a row that has gone.
 */
export const OUTCOMES_RETENTION_MS = 90 * 86_400_000;

/** What was not added, or is gone. No client's row may claim to be in these sums. */
export interface Applied {
  /** There was no room for these. */
  readonly refused: readonly OutcomeKey[];
  /** What was added up here before is gone too. */
  readonly lost: Lost;
}

export interface Lost {
  readonly versions: readonly number[];
  readonly keys: readonly OutcomeKey[];
}

/** The keys under which the times before are looked for. */
const COMPARED: ReadonlySet<string> = new Set([EVERYWHERE, ...[0, ...RTT_CLASS_MS].map((_, i) => rttKey(i))]);

type Columns = { version: number; arm: string; key: string; at_ms: number; sums: string; load: string; lcp: string };

/** The table of outcomes: reading, adding, and keeping it bounded. */
export class OutcomeRows {
  /** As in PathRows. */
  written = 0;
  readonly #sql: SqlStorage;
  #versions: Set<number> | undefined;
  /** Of all versions and both arms, by key. At most as many as COMPARED. */
  readonly #before = new Map<string, TimesBefore>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** All rows of a version that can be read. */
  of(version: number): OutcomeRow[] {
    const cursor = this.#sql.exec<Columns>("SELECT * FROM outcomes WHERE version = ? ORDER BY arm, key", version);
    return cursor.toArray().flatMap((columns): OutcomeRow[] => {
      const arm = DRAWN_ARMS.find((one) => one === columns.arm);
      const read = outcomesOf(columns);
      if (arm === undefined || read === undefined) return [];
      return [{ version, arm, key: columns.key, ...read, sums: sumsJson(read.sums) }];
    });
  }

  /** The versions that have rows, and when each changed last. */
  versions(): { version: number; atMs: number }[] {
    return this.#sql
      .exec<{ version: number; atMs: number }>(
        "SELECT version, MAX(at_ms) AS atMs FROM outcomes GROUP BY version ORDER BY version",
      )
      .toArray();
  }

  /** What pages under a key took so far, over all versions and both arms. Only the first call for a key reads the table. */
  before(key: string): TimesBefore {
    const known = this.#before.get(key);
    if (known !== undefined) return known;
    let before: TimesBefore = NO_OUTCOMES;
    for (const version of this.#known())
      for (const arm of DRAWN_ARMS) {
        const row = this.#read({ version, arm, key });
        const read = row && outcomesOf(row);
        if (read !== undefined)
          before = { load: mergeSketches(before.load, read.load), lcp: mergeSketches(before.lcp, read.lcp) };
      }
    if (COMPARED.has(key)) this.#before.set(key, before);
    return before;
  }

  /** Adds changes. Each of their keys is written once. Call it in a transaction, with the clients' rows. */
  apply(changes: readonly SumsChange[], nowMs: number): Applied {
    const { evicted, admitted } = this.#makeRoom(new Set(changes.map(({ version }) => version)));
    const refused: OutcomeKey[] = [];
    const keys: OutcomeKey[] = [];
    for (const change of changes) {
      const row = this.#read(change);
      if (row === undefined && !(admitted.has(change.version) && this.#hasRoom(change))) {
        refused.push(change);
        continue;
      }
      const held = row && outcomesOf(row);
      if (held === undefined && (row !== undefined || change.days.some(({ before }) => before !== EMPTY_DAY))) {
        // A corrupt row counts as a missing row. It begins anew with the next pages, of which no client claims anything yet.
        keys.push(change);
        this.#delete(change);
        continue;
      }
      this.#write(change, addChange(held ?? NO_OUTCOMES, change), nowMs);
      this.#remember(change);
    }
    return { refused, lost: { versions: evicted, keys } };
  }

  /**
   * Deletes rows that have not changed within the retention. It reads the whole table, so do not call it often.
   *
   * @returns when the oldest row changed last; undefined without rows.
   */
  expire(nowMs: number): number | undefined {
    const cursor = this.#sql.exec("DELETE FROM outcomes WHERE at_ms <= ?", nowMs - OUTCOMES_RETENTION_MS);
    this.written += cursor.rowsWritten;
    if (cursor.rowsWritten > 0) this.#forgetCaches();
    return this.#sql.exec<{ at: number | null }>("SELECT MIN(at_ms) AS at FROM outcomes").one().at ?? undefined;
  }

  #read({ version, arm, key }: OutcomeKey): Columns | undefined {
    return this.#sql
      .exec<Columns>("SELECT * FROM outcomes WHERE version = ? AND arm = ? AND key = ?", version, arm, key)
      .toArray()[0];
  }

  #write({ version, arm, key }: OutcomeKey, { sums, load, lcp }: OutcomeSums, nowMs: number): void {
    const cursor = this.#sql.exec(
      `INSERT INTO outcomes (version, arm, key, at_ms, sums, load, lcp) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (version, arm, key) DO UPDATE SET
         at_ms = excluded.at_ms, sums = excluded.sums, load = excluded.load, lcp = excluded.lcp`,
      version,
      arm,
      key,
      nowMs,
      JSON.stringify(sumsJson(sums)),
      JSON.stringify(load),
      JSON.stringify(lcp),
    );
    this.written += cursor.rowsWritten;
  }

  #delete({ version, arm, key }: OutcomeKey): void {
    const cursor = this.#sql.exec("DELETE FROM outcomes WHERE version = ? AND arm = ? AND key = ?", version, arm, key);
    this.written += cursor.rowsWritten;
    this.#before.delete(key);
  }

  #remember({ key, loadMs, lcpMs }: SumsChange): void {
    const before = this.#before.get(key);
    if (before === undefined || loadMs.length === 0) return;
    this.#before.set(key, { load: loadMs.reduce(addTime, before.load), lcp: lcpMs.reduce(addTime, before.lcp) });
  }

  /** Makes room for versions that have no rows yet. None of those that change is evicted. */
  #makeRoom(changing: ReadonlySet<number>): { evicted: number[]; admitted: ReadonlySet<number> } {
    const known = this.#known();
    const evicted: number[] = [];
    for (const version of changing) {
      if (known.has(version)) continue;
      if (known.size >= VERSIONS_MAX) {
        const oldest = this.versions()
          .filter((one) => !changing.has(one.version))
          .sort((a, b) => a.atMs - b.atMs)[0];
        if (oldest === undefined) continue;
        this.written += this.#sql.exec("DELETE FROM outcomes WHERE version = ?", oldest.version).rowsWritten;
        known.delete(oldest.version);
        this.#before.clear();
        evicted.push(oldest.version);
      }
      known.add(version);
    }
    return { evicted, admitted: known };
  }

  /** Whether a version and arm may have one more key. */
  #hasRoom({ version, arm, key }: OutcomeKey): boolean {
    return (
      (!key.startsWith(ASN_PREFIX) || this.#count(version, arm, ASN_PREFIX, AFTER_ASN) < ASN_KEYS_MAX) &&
      this.#count(version, arm, "", AFTER_ALL) < KEYS_MAX
    );
  }

  #count(version: number, arm: DrawnArm, from: string, to: string): number {
    return this.#sql
      .exec<{ n: number }>(
        "SELECT COUNT(*) AS n FROM outcomes WHERE version = ? AND arm = ? AND key >= ? AND key < ?",
        version,
        arm,
        from,
        to,
      )
      .one().n;
  }

  #known(): Set<number> {
    return (this.#versions ??= new Set(
      this.#sql
        .exec<{ version: number }>("SELECT DISTINCT version FROM outcomes")
        .toArray()
        .map(({ version }) => version),
    ));
  }

  #forgetCaches(): void {
    this.#versions = undefined;
    this.#before.clear();
  }
}

/** The first text after all that begin with ASN_PREFIX, and one after all keys. */
const AFTER_ASN = "asn0";
const AFTER_ALL = "~";

/** Undefined if the row cannot be read. */
function outcomesOf({ sums, load, lcp }: Columns): OutcomeSums | undefined {
  const read = {
    sums: readStored(sums, parseSums),
    load: readStored(load, parseSketch),
    lcp: readStored(lcp, parseSketch),
  };
  const isWhole = read.sums !== undefined && read.load !== undefined && read.lcp !== undefined;
  return isWhole ? (read as OutcomeSums) : undefined;
}
