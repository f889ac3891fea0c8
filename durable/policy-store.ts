import { DurableObject } from "cloudflare:workers";
import {
  type Activation,
  type ActivationChange,
  type ActivePolicy,
  changed,
  type InForce,
  INITIAL_ACTIVATION,
  isSameState,
  type KillSwitch,
  OFFER_LONGEST_MS,
  offersEndMs,
  versionsOf,
} from "../policy-api/decision/activation.ts";
import { parsePolicy, POLICY_OUTDATED_MS } from "../policy-api/decision/policy.ts";
import type {
  ActivationChanged,
  ActivationRequest,
  AuditAction,
  AuditEntry,
  Created,
  Creation,
  Page,
  PageRequest,
  PolicyVersion,
  Precondition,
  StoredVersion,
} from "../policy-api/decision/versions.ts";
import { Database } from "./database.ts";
import { migrate } from "./migrations.ts";
import { POLICY_MIGRATIONS, PolicyTables } from "./policy-tables.ts";

const TRY_MS = 10_000;

/** What an isolate needs to serve visitors: what is in force, and the key that it hashes addresses with. */
export interface PolicyBundle {
  /** Undefined if the stored activation cannot be read: then responses say nothing about HTTP/3. */
  readonly inForce?: InForce | undefined;
  /** 32 random bytes, made when the store was first used. Only the worker's isolates get them. */
  readonly hashKey: ArrayBuffer;
}

/** A kill switch that the store could not take when it was given. */
export interface KillOrder {
  readonly kind: KillSwitch;
  /** The name of the token. */
  readonly author: string;
  readonly note: string | null;
  readonly atMs: number;
  /** The store's revision that the isolate knew then. Undefined if it knew none. */
  readonly revision?: number | undefined;
}

/**
 * Every version of the policy, every activation, and who made them. There is one object for the deployment. Each change
 * is one transaction, and on disk before the answer.
 */
export class PolicyStore extends DurableObject {
  readonly #tables: PolicyTables;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #tryFailed = false;

  constructor(ctx: DurableObjectState, env: unknown) {
    super(ctx, env as never);
    migrate(ctx.storage, POLICY_MIGRATIONS);
    this.#tables = new PolicyTables(new Database(ctx.storage.sql));
  }

  /**
   * What an isolate needs to serve visitors.
   *
   * @param heldRevision The revision that the isolate has. If it is still in force, the answer is `unchanged`: policies
   *   are large.
   */
  bundle(heldRevision?: number): PolicyBundle | "unchanged" {
    if (heldRevision !== undefined && this.#tables.latestRevision() === heldRevision) return "unchanged";
    return { inForce: this.inForce(), hashKey: this.#tables.hashKey() };
  }

  inForce(): InForce | undefined {
    const current = this.#tables.current();
    return current && this.#resolve(current.activation, current.earlierOffersUntilMs);
  }

  versions(page: PageRequest): Page<PolicyVersion> & { latest: number } {
    return { ...this.#tables.versions(page), latest: this.#tables.latestVersion() };
  }

  version(version: number): StoredVersion | undefined {
    const found = this.#tables.version(version);
    return found && { ...this.#tables.active(version), version: found };
  }

  /**
   * Adds a version, or finds the version that has the same policy.
   *
   * @throws Error if the policy is not valid: the caller should have validated it, and shown the faults.
   */
  async create(creation: Creation): Promise<Created> {
    const parsed = parsePolicy(creation.policy);
    if (!parsed.ok)
      throw new Error(`invalid policy: ${parsed.faults.map((f) => `${f.pointer} ${f.message}`).join("; ")}`);
    const policy = JSON.stringify(parsed.value);
    const contentHash = await sha256(policy);
    const { author, note } = creation;
    const key = creation.idempotencyKey === undefined ? undefined : `${author}\n${creation.idempotencyKey}`;
    const nowMs = Date.now();
    const tables = this.#tables;
    return this.ctx.storage.transactionSync((): Created => {
      const earlier = key === undefined ? undefined : tables.creationOf(key, nowMs);
      if (earlier !== undefined) {
        const version = tables.version(earlier.version);
        if (version?.contentHash !== contentHash || earlier.note !== note) return { kind: "key-reused" };
        return { kind: "created", isNew: earlier.is_new === 1, version };
      }
      const latest = tables.latestVersion();
      if (creation.ifMatch !== undefined && !holds(creation.ifMatch, latest))
        return { kind: "precondition-failed", latest };
      const before = tables.versionByHash(contentHash);
      const isNew = before === undefined;
      const version = before ?? tables.addVersion({ policy, content_hash: contentHash, author, note }, nowMs);
      const created = { version: version.version, note };
      if (isNew) tables.addAudit({ actor: author, action: "policy.create", revision: null, ...created }, nowMs);
      if (key !== undefined) tables.addCreation(key, { ...created, is_new: Number(isNew) }, nowMs);
      return { kind: "created", isNew, version };
    });
  }

  /** The activation in force; undefined where it cannot be read. */
  activation(): Activation | undefined {
    return this.#tables.current()?.activation;
  }

  activations(page: PageRequest): Page<Activation> {
    return this.#tables.activations(page);
  }

  /** Changes the activation: one new revision with its entry in the audit, or nothing. */
  change(change: ActivationChange, { author, note, cause = null, ifMatch }: ActivationRequest): ActivationChanged {
    const nowMs = Date.now();
    const tables = this.#tables;
    return this.ctx.storage.transactionSync((): ActivationChanged => {
      const held = tables.current();
      // An activation that cannot be read can be replaced, but no rollback returns to it.
      const current = held?.activation ?? { ...INITIAL_ACTIVATION, revision: tables.latestRevision() };
      if (!holds(ifMatch, current.revision)) return { kind: "precondition-failed", current };
      const next = changed(current, change, (revision) => tables.activation(revision));
      if (next === undefined) return { kind: "nothing-before" };
      // A version that cannot be read is refused too: its clients would be told nothing, and no offer would be taken
      // back. The kill switch names no version.
      const named = change.kind === "kill-switch" ? [] : versionsOf(next);
      const unusable = named
        .map((version): ActivePolicy => tables.active(version) ?? { version })
        .filter(({ policy }) => policy === undefined);
      if (unusable.length > 0) return { kind: "unusable-versions", versions: unusable };
      if (held !== undefined && change.kind !== "rollback" && isSameState(current, next))
        return { kind: "changed", activation: current };
      const earlierOffersUntilMs =
        held === undefined
          ? nowMs + POLICY_OUTDATED_MS + OFFER_LONGEST_MS
          : offersEndMs(this.#resolve(held.activation, held.earlierOffersUntilMs), nowMs);
      const activation = tables.addActivation({ ...next, author, note, cause }, earlierOffersUntilMs, nowMs);
      const { revision } = activation;
      tables.addAudit({ actor: author, action: actionOf(change), version: null, revision, note }, nowMs);
      return { kind: "changed", activation };
    });
  }

  /**
   * Stores a kill switch that an isolate holds since the store could not take it. If the switch was changed since it was given, that
   * change counts: the operator may have stored it elsewhere, and turned it off.
   *
   * The revision that the isolate knew then may be old. So changes from before `atMs` do not count, unless that lies ahead: then a clock
   * was set back.
   *
   * @returns the revision in force.
   */
  storeKill({ kind, author, note, atMs, revision }: KillOrder): number {
    const sinceMs = revision !== undefined && atMs > Date.now() ? 0 : atMs;
    if (!this.#tables.changedKillSwitch(revision ?? 0, sinceMs))
      this.change({ kind: "kill-switch", to: kind }, { author, note, ifMatch: "*" });
    return this.#tables.latestRevision();
  }

  /** What a health check asks. The id stays the same for as long as the store does. */
  async check(): Promise<{ activation: Activation | undefined; id: string }> {
    // Not the key itself: only isolates that serve visitors need it.
    const id = (await sha256(`store ${await sha256(new Uint8Array(this.#tables.hashKey()))}`)).slice(0, 32);
    return { activation: this.activation(), id };
  }

  /**
   * Writes a row as it is. So a caller learns whether the disk takes it: the call rejects if not. It writes at most once in
   * ten seconds, as rows are billed; in between every caller learns how that went.
   */
  tryWrite(): void {
    const nowMs = Date.now();
    if (Math.abs(nowMs - this.#triedAtMs) < TRY_MS) {
      if (this.#tryFailed) throw new Error("the store took no write when it was tried last");
      return;
    }
    this.#triedAtMs = nowMs;
    this.#tryFailed = true;
    this.ctx.storage.sql.exec("UPDATE schema_version SET version = version");
    this.#tryFailed = false;
  }

  audit(page: PageRequest): Page<AuditEntry> {
    return this.#tables.audit(page);
  }

  /** Notes that something was done elsewhere, but not to whom. */
  note(actor: string, action: Extract<AuditAction, `${string}.forget`>): void {
    this.#tables.addAudit({ actor, action, version: null, revision: null, note: null }, Date.now());
  }

  #resolve(activation: Activation, earlierOffersUntilMs: number): InForce {
    const active = (version: number): ActivePolicy => this.#tables.active(version) ?? { version };
    return {
      revision: activation.revision,
      sinceMs: Date.parse(activation.at),
      everyone: active(activation.everyone),
      stages: activation.stages.map((stage) => ({ ...stage, ...active(stage.version) })),
      killSwitch: activation.killSwitch,
      earlierOffersUntilMs,
    };
  }
}

function holds(precondition: Precondition, number: number): boolean {
  return precondition === "*" || precondition.includes(number);
}

function actionOf(change: ActivationChange): AuditAction {
  if (change.kind !== "kill-switch") return `activation.${change.kind}`;
  return change.to === null ? "kill-switch.off" : "kill-switch.on";
}

async function sha256(content: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
