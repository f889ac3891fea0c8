import { DurableObject } from "cloudflare:workers";
import { parsePolicy } from "../policy-api/core/parse-policy.ts";
import { INITIAL_POLICY, type Policy, POLICY_OUTDATED_MS, type PolicyInForce } from "../policy-api/core/policy.ts";
import { migrate } from "./migrations.ts";
import { readStored } from "./read-stored.ts";

const POLICY_MIGRATIONS = [
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
];

/** Where the version before cannot be read: a day, the longest life that a policy can give an offer. */
const OFFER_LONGEST_MS = 86_400_000;

/** What an isolate needs to serve visitors: the policy in force, and the key that addresses are hashed with. */
export interface PolicyBundle {
  /** Undefined when the stored policy cannot be read: then nothing is said. */
  readonly inForce?: PolicyInForce;
  /** 32 random bytes, made when the store was first used; only the worker's isolates get them. */
  readonly hashKey: ArrayBuffer;
}

type Columns = { version: number; policy: string; created_at_ms: number; earlier_offers_until_ms: number };

/** Every version of the policy; the newest is in force. One object for the deployment. */
export class PolicyStore extends DurableObject {
  constructor(ctx: DurableObjectState, env: unknown) {
    super(ctx, env as never);
    migrate(ctx.storage, POLICY_MIGRATIONS);
  }

  bundle(): PolicyBundle {
    const hashKey = this.ctx.storage.sql.exec<{ bytes: ArrayBuffer }>("SELECT bytes FROM hash_key").one().bytes;
    const inForce = this.#inForce();
    return inForce === undefined ? { hashKey } : { inForce, hashKey };
  }

  /**
   * Puts a policy in force. It is on disk when this returns; a policy equal to the one in force makes no new version.
   *
   * @throws Error when the policy is not valid: the caller has validated it and shown the faults.
   */
  put(policy: Policy): PolicyInForce {
    const parsed = parsePolicy(policy);
    if (!parsed.ok)
      throw new Error(`invalid policy: ${parsed.faults.map((f) => `${f.pointer} ${f.message}`).join("; ")}`);
    const nowMs = Date.now();
    const before = this.#inForce();
    const json = JSON.stringify(parsed.value);
    if (before !== undefined && before.version > 0 && JSON.stringify(before.policy) === json) return before;
    const earlierOffersUntilMs =
      before === undefined
        ? nowMs + OFFER_LONGEST_MS
        : Math.max(before.earlierOffersUntilMs, lastOfferEndsMs(before.policy, nowMs));
    const { version } = this.ctx.storage.sql
      .exec<{ version: number }>(
        "INSERT INTO policies (policy, created_at_ms, earlier_offers_until_ms) VALUES (?, ?, ?) RETURNING version",
        json,
        nowMs,
        earlierOffersUntilMs,
      )
      .one();
    return { version, policy: parsed.value, earlierOffersUntilMs };
  }

  #inForce(): PolicyInForce | undefined {
    const row = this.ctx.storage.sql.exec<Columns>("SELECT * FROM policies ORDER BY version DESC LIMIT 1").toArray()[0];
    if (row === undefined) return { version: 0, policy: INITIAL_POLICY, earlierOffersUntilMs: 0 };
    return read(row);
  }
}

function read(row: Columns): PolicyInForce | undefined {
  const policy = readStored(row.policy, parsePolicy);
  return policy && { version: row.version, policy, earlierOffersUntilMs: row.earlier_offers_until_ms };
}

/** When the last offer that isolates may still make under a policy ends, milliseconds since the epoch. */
function lastOfferEndsMs(policy: Policy, nowMs: number): number {
  const offers = [policy.mode, ...policy.rules.map((rule) => rule.mode)].some(
    (mode) => mode === "fixed-h3" || mode === "adaptive",
  );
  return offers ? nowMs + POLICY_OUTDATED_MS + policy.ma.maxS * 1000 : 0;
}
