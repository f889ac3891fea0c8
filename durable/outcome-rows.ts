import { DRAWN_ARMS } from "../policy-api/decision/assignment.ts";
import { EMPTY_DAY } from "../policy-api/visitors/client-day.ts";
import type { TimesBefore } from "../policy-api/visitors/expected-time.ts";
import { NO_OUTCOMES, type OutcomeRow, type OutcomeSums } from "../policy-api/visitors/gathered.ts";
import { mergeSketches, readSketch } from "../policy-api/visitors/quantiles.ts";
import { ASN_PREFIX } from "../policy-api/visitors/row-keys.ts";
import { addChange, type OutcomeKey, outcomeId, type SumsChange } from "../policy-api/visitors/sums-change.ts";
import { readSums, sumsJson } from "../policy-api/visitors/sums.ts";
import { type Database, readStored } from "./database.ts";

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

/** What was added up here before, and is gone. */
export interface LostOutcomes {
  readonly versions: readonly number[];
  readonly keys: readonly OutcomeKey[];
}

export interface AppliedChanges {
  readonly lost: LostOutcomes;
  readonly isLost: boolean;
  /** Says which sums do not have a client, as they are lost or there was no room for them. Undefined if all do, as nearly always. */
  readonly isGone: ((key: OutcomeKey) => boolean) | undefined;
}

type Columns = { version: number; arm: string; key: string; at_ms: number; sums: string; load: string; lcp: string };

/** The table of outcomes: reading, adding, and keeping it bounded. */
export class OutcomeRows {
  readonly #database: Database;
  /** The versions that have rows. Undefined: not known. */
  #versions: Set<number> | undefined;
  readonly #before = new Map<string, TimesBefore>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** All rows of a version that can be read. */
  of(version: number): OutcomeRow[] {
    const rows = this.#database.all<Columns>("SELECT * FROM outcomes WHERE version = ? ORDER BY arm, key", version);
    return rows.flatMap((columns): OutcomeRow[] => {
      const arm = DRAWN_ARMS.find((one) => one === columns.arm);
      const read = outcomesOf(columns);
      if (arm === undefined || read === undefined) return [];
      return [{ version, arm, key: columns.key, ...read, sums: sumsJson(read.sums) }];
    });
  }

  /** The versions that have rows, and when each changed last. */
  versions(): { version: number; atMs: number }[] {
    return this.#database.all("SELECT version, MAX(at_ms) AS atMs FROM outcomes GROUP BY version ORDER BY version");
  }

  /**
   * What pages under a key of `comparedWith` took so far, over all versions and both arms. The table is read for the first call after a
   * change.
   */
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
    this.#before.set(key, before);
    return before;
  }

  /** Adds changes. Each of their keys is written once. Call it in a transaction, with the clients' rows. */
  apply(changes: readonly SumsChange[], nowMs: number): AppliedChanges {
    const versions = this.#makeRoom(new Set(changes.map(({ version }) => version)));
    const refused: OutcomeKey[] = [];
    const keys: OutcomeKey[] = [];
    for (const change of changes) {
      const row = this.#read(change);
      if (row === undefined && !(this.#known().has(change.version) && this.#hasRoom(change))) {
        refused.push(change);
        continue;
      }
      this.#before.delete(change.key);
      const sums = row && outcomesOf(row);
      if (sums === undefined && (row !== undefined || change.days.some(({ before }) => before !== EMPTY_DAY))) {
        // A corrupt row counts as a missing row. It begins anew with the next pages, of which no client claims anything yet.
        keys.push(change);
        const { version, arm, key } = change;
        this.#database.run("DELETE FROM outcomes WHERE version = ? AND arm = ? AND key = ?", version, arm, key);
        continue;
      }
      this.#write(change, addChange(sums ?? NO_OUTCOMES, change), nowMs);
    }
    const ids = new Set([...refused, ...keys].map(outcomeId));
    const isLost = versions.length + keys.length > 0;
    const isGone = (key: OutcomeKey): boolean => versions.includes(key.version) || ids.has(outcomeId(key));
    return { lost: { versions, keys }, isLost, isGone: isLost || ids.size > 0 ? isGone : undefined };
  }

  /**
   * Deletes rows that have not changed within the retention. It reads the whole table, so do not call it often.
   *
   * @returns when it has something to do again; undefined without rows.
   */
  expire(nowMs: number): number | undefined {
    this.#database.run("DELETE FROM outcomes WHERE at_ms <= ?", nowMs - OUTCOMES_RETENTION_MS);
    this.#versions = undefined;
    this.#before.clear();
    const { at } = this.#database.sql.exec<{ at: number | null }>("SELECT MIN(at_ms) AS at FROM outcomes").one();
    return at === null ? undefined : at + OUTCOMES_RETENTION_MS;
  }

  #read({ version, arm, key }: OutcomeKey): Columns | undefined {
    const query = "SELECT * FROM outcomes WHERE version = ? AND arm = ? AND key = ?";
    return this.#database.all<Columns>(query, version, arm, key)[0];
  }

  #write({ version, arm, key }: OutcomeKey, { sums, load, lcp }: OutcomeSums, nowMs: number): void {
    const row = {
      version,
      arm,
      key,
      at_ms: nowMs,
      sums: JSON.stringify(sumsJson(sums)),
      load: JSON.stringify(load),
      lcp: JSON.stringify(lcp),
    };
    this.#database.put("outcomes", row, ["version", "arm", "key"]);
  }

  /** Makes room for versions that have no rows yet. None of those that change is evicted. @returns those that are */
  #makeRoom(changing: ReadonlySet<number>): number[] {
    const known = this.#known();
    const evicted: number[] = [];
    for (const version of changing) {
      if (known.has(version)) continue;
      if (known.size >= VERSIONS_MAX) {
        const oldest = this.versions()
          .filter((one) => !changing.has(one.version))
          .sort((a, b) => a.atMs - b.atMs)[0];
        if (oldest === undefined) continue;
        this.#database.run("DELETE FROM outcomes WHERE version = ?", oldest.version);
        known.delete(oldest.version);
        this.#before.clear();
        evicted.push(oldest.version);
      }
      known.add(version);
    }
    return evicted;
  }

  /** Whether a version and arm may have one more key. */
  #hasRoom({ version, arm, key }: OutcomeKey): boolean {
    const count = (from: string, to: string): number =>
      this.#database.sql
        .exec<{ n: number }>(
          "SELECT COUNT(*) AS n FROM outcomes WHERE version = ? AND arm = ? AND key >= ? AND key < ?",
          version,
          arm,
          from,
          to,
        )
        .one().n;
    if (key.startsWith(ASN_PREFIX) && count(ASN_PREFIX, AFTER_ASN) >= ASN_KEYS_MAX) return false;
    return count("", AFTER_ALL) < KEYS_MAX;
  }

  #known(): Set<number> {
    const versions = (): number[] =>
      this.#database.all<{ version: number }>("SELECT DISTINCT version FROM outcomes").map(({ version }) => version);
    return (this.#versions ??= new Set(versions()));
  }
}

/** The first text after all that begin with ASN_PREFIX, and one after all keys. */
const AFTER_ASN = "asn0";
const AFTER_ALL = "~";

/** Undefined if the row cannot be read. */
function outcomesOf(columns: Columns): OutcomeSums | undefined {
  const sums = readStored(columns.sums, readSums);
  const [load, lcp] = [readStored(columns.load, readSketch), readStored(columns.lcp, readSketch)];
  return sums && load && lcp && { sums, load, lcp };
}
