import {
  type Activation,
  type ActivationState,
  type ActivePolicy,
  AUTOPILOT_STEPS,
  type Cause,
  INITIAL_ACTIVATION,
  KILL_SWITCHES,
  type KillSwitch,
} from "../policy-api/decision/activation.ts";
import { integer, list, nullable, number, object, oneOf, optional, text } from "../policy-api/decision/parse.ts";
import { INITIAL_POLICY, MODES, parsePolicy, UNREADABLE } from "../policy-api/decision/policy.ts";
import type { AuditAction, AuditEntry, Page, PageRequest, PolicyVersion } from "../policy-api/decision/versions.ts";
import { type Database, readStored, storedJson } from "./database.ts";

export const POLICY_MIGRATIONS = [
  (sql: SqlStorage): void => {
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
      previous_revision INTEGER,
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
      version INTEGER NOT NULL,
      note TEXT,
      is_new INTEGER NOT NULL,
      at_ms INTEGER NOT NULL
    )`);
    sql.exec("CREATE TABLE hash_key (bytes BLOB NOT NULL)");
    sql.exec("INSERT INTO hash_key VALUES (?)", crypto.getRandomValues(new Uint8Array(32)).buffer);
  },
];

/** A column of milliseconds as a time, ISO 8601. */
const timeIn = (column: string): string => `strftime('%Y-%m-%dT%H:%M:%fZ', ${column} / 1000.0, 'unixepoch')`;
const VERSION_COLUMNS = `version, content_hash AS contentHash, author, note, ${timeIn("created_at_ms")} AS createdAt,
  CASE WHEN json_valid(policy) THEN policy ->> '$.mode' END AS mode,
  CASE WHEN json_valid(policy) THEN policy ->> '$.source' END AS source`;
const ACTIVATION_COLUMNS = `revision, state, previous_revision AS previousRevision, author, note, cause, ${timeIn("at_ms")} AS at`;
const AUDIT_COLUMNS = `id, ${timeIn("at_ms")} AS at, actor, action, version, revision, note,
  (SELECT state FROM activations WHERE activations.revision = audit.revision) AS state`;

type VersionRow = Omit<PolicyVersion, "mode" | "source"> & { mode: SqlStorageValue; source: SqlStorageValue };
type ActivationRow = Omit<Activation, keyof ActivationState | "cause"> & {
  state: string;
  cause: string | null;
};
type AuditRow = Omit<AuditEntry, "action" | "activation"> & { action: string; state: string | null };
type CreationRow = { note: string | null; version: number; is_new: number };

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
  createdAt: INITIAL_ACTIVATION.at,
  mode: INITIAL_POLICY.mode,
  source: null,
};

/** The tables of versions, activations and audit. Each method is one or two statements, and checks nothing. */
export class PolicyTables {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  hashKey(): ArrayBuffer {
    return this.#database.sql.exec<{ bytes: ArrayBuffer }>("SELECT bytes FROM hash_key").one().bytes;
  }

  latestVersion(): number {
    return this.#newest("version", "policies");
  }

  latestRevision(): number {
    return this.#newest("revision", "activations");
  }

  version(version: number): PolicyVersion | undefined {
    return version === 0 ? INITIAL_VERSION : this.#version("version = ?", version);
  }

  versionByHash(contentHash: string): PolicyVersion | undefined {
    return this.#version("content_hash = ?", contentHash);
  }

  versions(page: PageRequest): Page<PolicyVersion> {
    return this.#page(VERSION_COLUMNS, "policies", "version", page, versionOf);
  }

  /** A version with its policy, or with why that cannot be read. Undefined if there is no such version. */
  active(version: number): ActivePolicy | undefined {
    if (version === 0) return { version, policy: INITIAL_POLICY };
    const row = this.#database.all<{ policy: string }>("SELECT policy FROM policies WHERE version = ?", version)[0];
    if (row === undefined) return undefined;
    const parsed = parsePolicy(storedJson(row.policy));
    return parsed.ok ? { version, policy: parsed.value } : { version, fault: UNREADABLE };
  }

  addVersion(
    row: { policy: string; content_hash: string; author: string; note: string | null },
    nowMs: number,
  ): PolicyVersion {
    this.#database.put("policies", { ...row, created_at_ms: nowMs });
    const newest = `SELECT ${VERSION_COLUMNS} FROM policies ORDER BY version DESC LIMIT 1`;
    return versionOf(this.#database.sql.exec<VersionRow>(newest).one());
  }

  /** The newest activation. Undefined if it cannot be read. */
  current(): { activation: Activation; earlierOffersUntilMs: number } | undefined {
    const revision = this.latestRevision();
    const activation = this.activation(revision);
    if (activation === undefined) return undefined;
    const query = "SELECT earlier_offers_until_ms AS untilMs FROM activations WHERE revision = ?";
    const [row] = this.#database.all<{ untilMs: number }>(query, revision);
    return { activation, earlierOffersUntilMs: row?.untilMs ?? 0 };
  }

  activation(revision: number): Activation | undefined {
    if (revision === 0) return INITIAL_ACTIVATION;
    const query = `SELECT ${ACTIVATION_COLUMNS} FROM activations WHERE revision = ?`;
    const [row] = this.#database.all<ActivationRow>(query, revision);
    return row && activationOf(row);
  }

  /** Whether an activation after this revision, and not from before this time, changed the kill switch. */
  changedKillSwitch(afterRevision: number, sinceMs: number): boolean {
    const killSwitch = (revision: number): KillSwitch | null => this.activation(revision)?.killSwitch ?? null;
    const query = "SELECT revision FROM activations WHERE revision > ? AND at_ms >= ?";
    return this.#database
      .all<{ revision: number }>(query, afterRevision, sinceMs)
      .some(({ revision }) => killSwitch(revision) !== killSwitch(revision - 1));
  }

  activations(page: PageRequest): Page<Activation> {
    const { items, next } = this.#page(ACTIVATION_COLUMNS, "activations", "revision", page, activationOf);
    return { items: items.filter((item) => item !== undefined), next };
  }

  /** @returns the activation as it is in force now. */
  addActivation(row: Omit<Activation, "revision" | "at">, earlierOffersUntilMs: number, nowMs: number): Activation {
    const { everyone, stages, killSwitch, previousRevision, author, note, cause } = row;
    this.#database.put("activations", {
      state: JSON.stringify({ everyone, stages, killSwitch }),
      previous_revision: previousRevision,
      author,
      note,
      cause: cause && JSON.stringify(cause),
      at_ms: nowMs,
      earlier_offers_until_ms: earlierOffersUntilMs,
    });
    return { ...row, revision: this.latestRevision(), at: new Date(nowMs).toISOString() };
  }

  addAudit(entry: Omit<AuditEntry, "id" | "at" | "activation">, nowMs: number): void {
    this.#database.put("audit", { ...entry, at_ms: nowMs });
  }

  audit(page: PageRequest): Page<AuditEntry> {
    return this.#page(AUDIT_COLUMNS, "audit", "id", page, ({ action, state, ...row }: AuditRow) => ({
      ...row,
      action: action as AuditAction,
      activation: (state === null ? undefined : readStored(state, readState)) ?? null,
    }));
  }

  /** What a creation with this key made in the last day. */
  creationOf(key: string, nowMs: number): CreationRow | undefined {
    this.#database.run("DELETE FROM idempotency WHERE at_ms <= ?", nowMs - IDEMPOTENCY_MS);
    return this.#database.all<CreationRow>("SELECT version, note, is_new FROM idempotency WHERE key = ?", key)[0];
  }

  addCreation(key: string, row: CreationRow, nowMs: number): void {
    this.#database.put("idempotency", { key, ...row, at_ms: nowMs });
  }

  #newest(column: string, table: string): number {
    return this.#database.sql.exec<{ n: number | null }>(`SELECT MAX(${column}) AS n FROM ${table}`).one().n ?? 0;
  }

  #version(where: string, value: SqlStorageValue): PolicyVersion | undefined {
    const row = this.#database.all<VersionRow>(`SELECT ${VERSION_COLUMNS} FROM policies WHERE ${where}`, value)[0];
    return row && versionOf(row);
  }

  #page<R extends Record<string, SqlStorageValue>, T>(
    columns: string,
    table: string,
    column: keyof R & string,
    { limit, before = Number.MAX_SAFE_INTEGER }: PageRequest,
    read: (row: R) => T,
  ): Page<T> {
    const query = `SELECT ${columns} FROM ${table} WHERE ${column} < ? ORDER BY ${column} DESC LIMIT ?`;
    const rows = this.#database.all<R>(query, before, limit + 1);
    const last = rows.length > limit ? rows[limit - 1]?.[column] : undefined;
    return { items: rows.slice(0, limit).map(read), next: typeof last === "number" ? last : null };
  }
}

function versionOf({ mode, source, ...row }: VersionRow): PolicyVersion {
  return {
    ...row,
    mode: MODES.find((one) => one === mode) ?? null,
    source: typeof source === "string" ? source : null,
  };
}

function activationOf({ state: json, cause, ...row }: ActivationRow): Activation | undefined {
  const state = readStored(json, readState);
  return state && { ...state, ...row, cause: (cause === null ? undefined : readStored(cause, readCause)) ?? null };
}
