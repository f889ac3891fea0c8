import { DRAWN_ARMS } from "../policy-api/decision/assignment.ts";
import type { TimesBefore } from "../policy-api/visitors/expected-time.ts";
import { NO_OUTCOMES, type OutcomeKey, type OutcomeRow, type OutcomeSums } from "../policy-api/visitors/gathered.ts";
import { mergeSketches, readSketch } from "../policy-api/visitors/quantiles.ts";
import { ASN_PREFIX, COUNTRY_PREFIX } from "../policy-api/visitors/row-keys.ts";
import { addChange, outcomeId, type SumsChange } from "../policy-api/visitors/sums-change.ts";
import { object } from "../policy-api/decision/parse.ts";
import { readSums, sumsText } from "../policy-api/visitors/sums.ts";
import { type Database, readStored } from "./database.ts";
import { RETENTION_MS } from "./path-rows.ts";

/** How many versions of the policy have sums. With a further one, those go that changed the longest ago. */
export const VERSIONS_MAX = 32;
/** The arm of a row that says only that a version's sums have gone. They do not begin anew while a client's row may say that it is in them. */
const GONE = "gone";
/** How many keys a version and arm may have. The largest tables of this repository have about 300 cells. */
export const KEYS_MAX = 1_000;
/** How many of them may be autonomous systems, and how many countries. Those that come first stay. */
export const PLACE_KEYS_MAX = 64;
/**
 * How long a row is kept after its last change. A client's part in a row changes for little more than two days, so no client
 * is left that would take its part out of a row that has gone.
 */
export const OUTCOMES_RETENTION_MS = 90 * 86_400_000;

type Columns = { version: number; arm: string; key: string; at_ms: number; state: string };

const readOutcomes = object<OutcomeSums>({ sums: readSums, load: readSketch, lcp: readSketch });

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
      const read = readStored(columns.state, readOutcomes);
      if (arm === undefined || read === undefined) return [];
      return [{ version, arm, key: columns.key, ...read }];
    });
  }

  /**
   * What pages under a key of `comparedWith` took so far, over all versions and both arms. The table is read for the first call after a
   * change.
   */
  before(key: string): TimesBefore {
    const known = this.#before.get(key);
    if (known !== undefined) return known;
    const query = `SELECT * FROM outcomes WHERE key = ? AND version IN (SELECT value FROM json_each(?))
      AND arm IN (SELECT value FROM json_each(?))`;
    const rows = this.#database.all<Columns>(
      query,
      key,
      JSON.stringify([...this.#known()]),
      JSON.stringify(DRAWN_ARMS),
    );
    let before: TimesBefore = NO_OUTCOMES;
    for (const { load, lcp } of rows.flatMap(({ state }) => readStored(state, readOutcomes) ?? []))
      before = { load: mergeSketches(before.load, load), lcp: mergeSketches(before.lcp, lcp) };
    this.#before.set(key, before);
    return before;
  }

  /**
   * Adds changes. Each of their keys is written once. Call it in a transaction, with the clients' rows.
   *
   * @returns whether the sums under a key do not have its clients, as there was no room for it, its version has gone, or its row cannot be
   *   read. Never, nearly always.
   */
  apply(changes: readonly SumsChange[], nowMs: number): (key: OutcomeKey) => boolean {
    const refused = new Set<string>();
    for (const change of changes) {
      const row = this.#read(change);
      // To a row that cannot be read nothing is added: its clients have parts in it.
      const sums =
        row !== undefined
          ? readStored(row.state, readOutcomes)
          : this.#hasRoom(change, nowMs)
            ? NO_OUTCOMES
            : undefined;
      if (sums === undefined) {
        refused.add(outcomeId(change));
        continue;
      }
      this.#before.delete(change.key);
      this.#write(change, addChange(sums, change), nowMs);
    }
    return (key) => refused.has(outcomeId(key)) || !this.#known().has(key.version);
  }

  /**
   * Deletes rows that have not changed within the retention. It reads the whole table, so do not call it often.
   *
   * @returns when it has something to do again; Infinity without rows.
   */
  expire(nowMs: number): number {
    this.#database.run("DELETE FROM outcomes WHERE at_ms <= ?", nowMs - OUTCOMES_RETENTION_MS);
    this.#versions = undefined;
    this.#before.clear();
    const { at } = this.#database.sql.exec<{ at: number | null }>("SELECT MIN(at_ms) AS at FROM outcomes").one();
    return (at ?? Infinity) + OUTCOMES_RETENTION_MS;
  }

  #read({ version, arm, key }: OutcomeKey): Columns | undefined {
    const query = "SELECT * FROM outcomes WHERE version = ? AND arm = ? AND key = ?";
    return this.#database.all<Columns>(query, version, arm, key)[0];
  }

  #write({ version, arm, key }: OutcomeKey, outcomes: OutcomeSums, nowMs: number): void {
    this.#put({ version, arm, key, at_ms: nowMs, state: sumsText(outcomes) });
  }

  #put(row: Columns): void {
    this.#database.put("outcomes", row, ["version", "arm", "key"]);
  }

  /** Whether a version and arm may have one more key. */
  #hasRoom({ version, arm, key }: OutcomeKey, nowMs: number): boolean {
    if (!this.#takesVersion(version, nowMs)) return false;
    const query = "SELECT key FROM outcomes WHERE version = ? AND arm = ?";
    const keys = this.#database.all<{ key: string }>(query, version, arm).map((row) => row.key);
    const prefix = [ASN_PREFIX, COUNTRY_PREFIX].find((one) => key.startsWith(one));
    const alike = prefix === undefined ? 0 : keys.filter((one) => one.startsWith(prefix)).length;
    return keys.length < KEYS_MAX && alike < PLACE_KEYS_MAX;
  }

  #takesVersion(version: number, nowMs: number): boolean {
    const known = this.#known();
    if (known.has(version)) return true;
    const sinceGone = "SELECT version FROM outcomes WHERE version = ? AND arm = ? AND at_ms > ?";
    if (this.#database.all(sinceGone, version, GONE, nowMs - RETENTION_MS).length > 0) return false;
    if (known.size >= VERSIONS_MAX) {
      const query = "SELECT version FROM outcomes WHERE arm <> ? GROUP BY version ORDER BY MAX(at_ms) LIMIT 1";
      const oldest = this.#database.sql.exec<{ version: number }>(query, GONE).one().version;
      this.#database.run("DELETE FROM outcomes WHERE version = ?", oldest);
      this.#put({ version: oldest, arm: GONE, key: "", at_ms: nowMs, state: "" });
      known.delete(oldest);
      this.#before.clear();
    }
    known.add(version);
    return true;
  }

  #known(): Set<number> {
    const query = "SELECT DISTINCT version FROM outcomes WHERE arm <> ?";
    return (this.#versions ??= new Set(
      this.#database.all<{ version: number }>(query, GONE).map(({ version }) => version),
    ));
  }
}
