import {
  type Activation,
  type ActivationState,
  type ActivePolicy,
  AUTOPILOT_STEPS,
  type Cause,
  INITIAL_ACTIVATION,
  type KillSwitch,
  KILL_SWITCHES,
} from "../policy-api/decision/activation.ts";
import { integer, list, nullable, number, object, oneOf, optional, parse, text } from "../policy-api/decision/parse.ts";
import { parsePolicy, UNREADABLE } from "../policy-api/decision/parse-policy.ts";
import { INITIAL_POLICY, type Mode, MODES } from "../policy-api/decision/policy.ts";
import type { AuditAction, AuditEntry, Page, PageRequest, PolicyVersion } from "../policy-api/decision/versions.ts";
import { readStored, storedJson } from "./read-stored.ts";

export const POLICY_MIGRATIONS = [
  (sql: SqlStorage): void => {
    sql.exec(`CREATE TABLE policies (
      version INTEGER PRIMARY KEY AUTOINCREMENT,
      policy TEXT NOT NULL,
      created_at_ms INTEGER NOT NULL,
      earlier_offers_until_ms INTEGER NOT NULL
    )`);
    sql.exec("CREATE TABLE hash_key (bytes BLOB NOT NULL)");
    sql.exec("INSERT INTO hash_key VALUES (?)", crypto.getRandomValues(new Uint8Array(32)).buffer);
  },
  (sql: SqlStorage): void => {
    // The old versions had no hash, no author and no activation. So the store begins again, in observe. The hash key
    // stays.
    sql.exec("DROP TABLE policies");
    sql.exec(`CREATE TABLE policies (
      version INTEGER PRIMARY KEY AUTOINCREMENT,
      content_hash TEXT NOT NULL UNIQUE,
      policy TEXT NOT NULL,
      author TEXT NOT NULL,
      note TEXT,
      created_at_ms INTEGER NOT NULL
    )`);
    sql.exec(`CREATE TABLE activations (
      revision INTEGER PRIMARY KEY AUTOINCREMENT,
      state TEXT NOT NULL,
      previous_revision INTEGER NOT NULL,
      author TEXT NOT NULL,
      note TEXT,
      cause TEXT,
      at_ms INTEGER NOT NULL,
      earlier_offers_until_ms INTEGER NOT NULL
    )`);
    sql.exec(`CREATE TABLE audit (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      at_ms INTEGER NOT NULL,
      actor TEXT NOT NULL,
      action TEXT NOT NULL,
      version INTEGER,
      revision INTEGER,
      note TEXT
    )`);
    // Even a faulty later version of this program must not change the past.
    for (const table of ["policies", "activations", "audit"])
      for (const change of ["UPDATE", "DELETE"])
        sql.exec(`CREATE TRIGGER ${table}_no_${change.toLowerCase()} BEFORE ${change} ON ${table}
          BEGIN SELECT RAISE(ABORT, '${table} are append-only'); END`);
    sql.exec(`CREATE TABLE idempotency (
      key TEXT PRIMARY KEY,
      content_hash TEXT NOT NULL,
      note TEXT,
      version INTEGER NOT NULL,
      is_new INTEGER NOT NULL,
      at_ms INTEGER NOT NULL
    )`);
  },
];

const COLUMNS = `version, content_hash, author, note, created_at_ms,
  CASE WHEN json_valid(policy) THEN policy ->> '$.mode' END AS mode,
  CASE WHEN json_valid(policy) THEN policy ->> '$.source' END AS source`;

type VersionRow = {
  version: number;
  content_hash: string;
  author: string;
  note: string | null;
  created_at_ms: number;
  mode: string | null;
  source: string | null;
};
type ActivationRow = {
  revision: number;
  state: string;
  previous_revision: number;
  author: string;
  note: string | null;
  cause: string | null;
  at_ms: number;
  earlier_offers_until_ms: number;
};
type AuditRow = {
  id: number;
  at_ms: number;
  actor: string;
  action: string;
  version: number | null;
  revision: number | null;
  note: string | null;
  state: string | null;
};
type IdempotencyRow = { content_hash: string; note: string | null; version: number; is_new: number };

const readState = object<ActivationState>({
  everyone: integer(0, Number.MAX_SAFE_INTEGER),
  stages: list(
    object<ActivationState["stages"][number]>({
      version: integer(0, Number.MAX_SAFE_INTEGER),
      share: number(0, 1),
      pathPrefix: optional(text(1000)),
    }),
    0,
    100,
  ),
  killSwitch: nullable(oneOf(...KILL_SWITCHES)),
});

const readCause = object<Cause>({
  step: oneOf(...AUTOPILOT_STEPS),
  version: integer(0, Number.MAX_SAFE_INTEGER),
});

/** How long the key of a creation is kept, milliseconds: a day. */
const IDEMPOTENCY_MS = 86_400_000;

/** Version 0: what a store has before anybody has put a policy into it. */
export const INITIAL_VERSION: PolicyVersion = {
  version: 0,
  contentHash: "0".repeat(64),
  author: "initial",
  note: null,
  createdAtMs: 0,
  mode: INITIAL_POLICY.mode,
  source: null,
};

/** The tables of versions, activations and audit. Each method is one or two statements, and checks nothing. */
export class PolicyTables {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  hashKey(): ArrayBuffer {
    return this.#sql.exec<{ bytes: ArrayBuffer }>("SELECT bytes FROM hash_key").one().bytes;
  }

  latestVersion(): number {
    return this.#sql.exec<{ n: number }>("SELECT COALESCE(MAX(version), 0) AS n FROM policies").one().n;
  }

  version(version: number): PolicyVersion | undefined {
    if (version === 0) return INITIAL_VERSION;
    const row = this.#sql.exec<VersionRow>(`SELECT ${COLUMNS} FROM policies WHERE version = ?`, version).toArray()[0];
    return row && versionOf(row);
  }

  versionByHash(contentHash: string): PolicyVersion | undefined {
    const row = this.#sql
      .exec<VersionRow>(`SELECT ${COLUMNS} FROM policies WHERE content_hash = ?`, contentHash)
      .toArray()[0];
    return row && versionOf(row);
  }

  versions(page: PageRequest): Page<PolicyVersion> {
    return this.#page<VersionRow, PolicyVersion>(COLUMNS, "policies", "version", page, versionOf);
  }

  /** A version with its policy, or with why that cannot be read. Undefined if there is no such version. */
  active(version: number): ActivePolicy | undefined {
    if (version === 0) return { version, policy: INITIAL_POLICY };
    const row = this.#sql
      .exec<{ policy: string }>("SELECT policy FROM policies WHERE version = ?", version)
      .toArray()[0];
    if (row === undefined) return undefined;
    const parsed = parsePolicy(storedJson(row.policy));
    return parsed.ok ? { version, policy: parsed.value } : { version, fault: UNREADABLE };
  }

  addVersion(
    row: { policy: string; contentHash: string; author: string; note: string | null },
    nowMs: number,
  ): PolicyVersion {
    return versionOf(
      this.#sql
        .exec<VersionRow>(
          `INSERT INTO policies (content_hash, policy, author, note, created_at_ms) VALUES (?, ?, ?, ?, ?)
           RETURNING ${COLUMNS}`,
          row.contentHash,
          row.policy,
          row.author,
          row.note,
          nowMs,
        )
        .one(),
    );
  }

  /** The newest activation. Undefined if it cannot be read. */
  current(): { activation: Activation; earlierOffersUntilMs: number } | undefined {
    const row = this.#sql.exec<ActivationRow>("SELECT * FROM activations ORDER BY revision DESC LIMIT 1").toArray()[0];
    if (row === undefined) return { activation: INITIAL_ACTIVATION, earlierOffersUntilMs: 0 };
    const activation = activationOf(row);
    return activation && { activation, earlierOffersUntilMs: row.earlier_offers_until_ms };
  }

  latestRevision(): number {
    return this.#sql.exec<{ n: number }>("SELECT COALESCE(MAX(revision), 0) AS n FROM activations").one().n;
  }

  activation(revision: number): Activation | undefined {
    if (revision === 0) return INITIAL_ACTIVATION;
    const row = this.#sql.exec<ActivationRow>("SELECT * FROM activations WHERE revision = ?", revision).toArray()[0];
    return row && activationOf(row);
  }

  /** Whether an activation after this revision, and not from before this time, changed the kill switch. */
  changedKillSwitch(afterRevision: number, sinceMs: number): boolean {
    const killSwitch = (revision: number): KillSwitch | null => this.activation(revision)?.killSwitch ?? null;
    return this.#sql
      .exec<{ revision: number }>(
        "SELECT revision FROM activations WHERE revision > ? AND at_ms >= ?",
        afterRevision,
        sinceMs,
      )
      .toArray()
      .some(({ revision }) => killSwitch(revision) !== killSwitch(revision - 1));
  }

  activations(page: PageRequest): Page<Activation> {
    const rows = this.#page<ActivationRow, Activation | undefined>("*", "activations", "revision", page, activationOf);
    return { items: rows.items.filter((item) => item !== undefined), next: rows.next };
  }

  addActivation(
    row: ActivationState &
      Pick<Activation, "previousRevision" | "author" | "note" | "cause"> & { earlierOffersUntilMs: number },
    nowMs: number,
  ): number {
    const state: ActivationState = { everyone: row.everyone, stages: row.stages, killSwitch: row.killSwitch };
    return this.#sql
      .exec<{ revision: number }>(
        `INSERT INTO activations (state, previous_revision, author, note, cause, at_ms, earlier_offers_until_ms)
         VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING revision`,
        JSON.stringify(state),
        row.previousRevision ?? NONE,
        row.author,
        row.note,
        row.cause && JSON.stringify(row.cause),
        nowMs,
        row.earlierOffersUntilMs,
      )
      .one().revision;
  }

  addAudit(entry: Omit<AuditEntry, "id" | "atMs" | "activation">, nowMs: number): void {
    this.#sql.exec(
      "INSERT INTO audit (at_ms, actor, action, version, revision, note) VALUES (?, ?, ?, ?, ?, ?)",
      nowMs,
      entry.actor,
      entry.action,
      entry.version,
      entry.revision,
      entry.note,
    );
  }

  audit(page: PageRequest): Page<AuditEntry> {
    const columns = "*, (SELECT state FROM activations WHERE activations.revision = audit.revision) AS state";
    return this.#page<AuditRow, AuditEntry>(columns, "audit", "id", page, ({ at_ms: atMs, action, state, ...row }) => ({
      ...row,
      atMs,
      action: action as AuditAction,
      // Earlier versions of this program wrote the version for everyone here, which leaves out the stages.
      version: row.revision === null ? row.version : null,
      activation: (state === null ? undefined : stateOf(state)) ?? null,
    }));
  }

  /** What a creation with this key made in the last day. */
  creationOf(key: string, nowMs: number): IdempotencyRow | undefined {
    this.#sql.exec("DELETE FROM idempotency WHERE at_ms <= ?", nowMs - IDEMPOTENCY_MS);
    return this.#sql.exec<IdempotencyRow>("SELECT * FROM idempotency WHERE key = ?", key).toArray()[0];
  }

  addCreation(key: string, version: PolicyVersion, note: string | null, isNew: boolean, nowMs: number): void {
    this.#sql.exec(
      "INSERT INTO idempotency VALUES (?, ?, ?, ?, ?, ?)",
      key,
      version.contentHash,
      note,
      version.version,
      isNew ? 1 : 0,
      nowMs,
    );
  }

  #page<R extends Record<string, SqlStorageValue>, T>(
    columns: string,
    table: string,
    column: keyof R & string,
    { limit, before }: PageRequest,
    read: (row: R) => T,
  ): Page<T> {
    const rows = this.#sql
      .exec<R>(
        `SELECT ${columns} FROM ${table} WHERE ${column} < ? ORDER BY ${column} DESC LIMIT ?`,
        before ?? Number.MAX_SAFE_INTEGER,
        limit + 1,
      )
      .toArray();
    const last = rows.length > limit ? rows[limit - 1]?.[column] : undefined;
    return { items: rows.slice(0, limit).map(read), next: typeof last === "number" ? last : null };
  }
}

/** previous_revision of the first activation. */
const NONE = -1;

function versionOf(row: VersionRow): PolicyVersion {
  return {
    version: row.version,
    contentHash: row.content_hash,
    author: row.author,
    note: row.note,
    createdAtMs: row.created_at_ms,
    mode: MODES.find((mode: Mode) => mode === row.mode) ?? null,
    source: typeof row.source === "string" ? row.source : null,
  };
}

function stateOf(json: string): ActivationState | undefined {
  return readStored(json, (value) => parse(readState, value));
}

function activationOf(row: ActivationRow): Activation | undefined {
  const state = stateOf(row.state);
  return (
    state && {
      ...state,
      revision: row.revision,
      author: row.author,
      note: row.note,
      cause: (row.cause === null ? undefined : readStored(row.cause, (value) => parse(readCause, value))) ?? null,
      atMs: row.at_ms,
      previousRevision: row.previous_revision === NONE ? null : row.previous_revision,
    }
  );
}
