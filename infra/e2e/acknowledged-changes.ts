import assert, { deepEqual, equal } from "node:assert/strict";
import { INITIAL_POLICY, type Policy } from "../../policy-api/decision/policy.ts";
import type { ApiMethod, ApiReply } from "../workerd/policy-client.ts";

interface Activation {
  readonly revision: number;
  readonly everyone: number;
  readonly stages: readonly { version: number; share: number }[];
  readonly killSwitch: string | null;
}
interface AuditEntry {
  readonly id: number;
  readonly action: string;
  readonly version: number | null;
  readonly revision: number | null;
}

export type Call = (
  method: ApiMethod,
  resource: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<ApiReply>;

/** Adaptive, so that pages are decided, and what they offer is recorded. Clients draw their arms, and pages are asked to report. */
const policyNumber = (i: number): Policy => ({
  ...INITIAL_POLICY,
  mode: "adaptive",
  method: { kind: "rtt-threshold", rttMs: 1 },
  exploration: { share: 1 },
  reports: { share: 1, inject: false },
  source: `number ${i}`,
});

/** Changes the policy, remembers what was acknowledged, and compares the store with it. */
export class AcknowledgedChanges {
  readonly #call: Call;
  readonly #random: () => number;
  readonly #versions = new Map<number, number>();
  readonly #activations: Activation[] = [];
  /** Creations whose answer was lost. */
  readonly #toRepeat: number[] = [];
  #begun = 0;
  /** Changes that wait for their answers now. */
  inFlight = 0;
  /** Changes whose answer was lost. Nobody but the store knows whether they were made. */
  unanswered = 0;

  constructor(call: Call, random: () => number) {
    this.#call = call;
    this.#random = random;
  }

  get acknowledged(): { versions: number; activations: number } {
    return { versions: this.#versions.size, activations: this.#activations.length };
  }

  /** Makes a change. Resolves when it is acknowledged, or its answer is lost. */
  async make(): Promise<void> {
    const i = this.#begun++;
    this.inFlight++;
    const reply = await this.#change(i).catch(() => undefined);
    this.inFlight--;
    if (reply === undefined || reply.status >= 500) {
      this.unanswered++;
      if (isCreation(i)) this.#toRepeat.push(i);
    } else if (reply.status === 201) this.#versions.set((reply.json as { version: number }).version, i);
    else if (reply.status === 200) this.#activations.push(reply.json as Activation);
    // A rollback with nothing to go back to.
    else equal(reply.status, 409);
  }

  /** Repeats the creations whose answers were lost. With its key, a call can be repeated and is made only once. */
  async repeat(): Promise<void> {
    for (const i of this.#toRepeat.splice(0)) {
      const again = await this.#create(i);
      assert(again.status === 200 || again.status === 201);
      this.#versions.set((again.json as { version: number }).version, i);
    }
  }

  /** Compares what the store has with what it acknowledged. No change may be in flight. */
  async check(): Promise<void> {
    const stored = await this.#all<{ version: number; source: string }>("policies", "policies", "version");
    deepEqual(
      stored.map(({ version }) => version),
      stored.map((_, i) => i + 1),
    );
    const sources = stored.map(({ source }) => source);
    for (const [version, i] of this.#versions) equal(sources[version - 1], `number ${i}`);
    equal(new Set(sources).size, stored.length);

    const history = await this.#all<Activation>("activation/history", "activations", "revision");
    deepEqual(
      history.map(({ revision }) => revision),
      history.map((_, i) => i + 1),
    );
    // A change that changes nothing makes no revision. Its answer is the current one.
    for (const activation of this.#activations) deepEqual(history[activation.revision - 1], activation);
    const acknowledged = new Set(this.#activations.map(({ revision }) => revision));
    assert(history.length - acknowledged.size <= this.unanswered, "changes that nobody asked for");

    const audit = await this.#all<AuditEntry>("audit", "entries", "id");
    deepEqual(
      audit.map(({ id }) => id),
      audit.map((_, i) => i + 1),
    );
    const created = audit.filter(({ action }) => action === "policy.create").map(({ version }) => version);
    deepEqual(
      created,
      stored.map(({ version }) => version),
    );
    const changed = audit.filter(({ action }) => action !== "policy.create").map(({ revision }) => revision);
    deepEqual(
      changed,
      history.map(({ revision }) => revision),
    );
  }

  #change(i: number): Promise<ApiReply> {
    if (isCreation(i) || this.#versions.size === 0) return this.#create(i);
    const random = this.#random;
    const version = [...this.#versions.keys()][Math.floor(random() * this.#versions.size)] ?? 1;
    const put = (resource: string, body: unknown) => this.#call("PUT", resource, body, { "if-match": "*" });
    if (i % 5 === 2) return put("activation", { everyone: version });
    if (i % 5 === 3) return put("activation", { everyone: 0, stages: [{ version, share: random() }] });
    if (random() < 0.4) return this.#call("POST", "activation/rollback", {}, { "if-match": "*" });
    // Off more often than on, so that policies decide most of the time.
    if (random() < 0.7) return this.#call("DELETE", "activation/kill-switch", undefined, { "if-match": "*" });
    return put("activation/kill-switch", { kind: random() < 0.5 ? "fixed-h2" : "clear" });
  }

  #create(i: number): Promise<ApiReply> {
    return this.#call("POST", "policies", { policy: policyNumber(i) }, { "idempotency-key": `change-${i}` });
  }

  /** All entries of a list, oldest first. */
  async #all<T>(resource: string, name: string, number: keyof T): Promise<T[]> {
    const items: T[] = [];
    for (let before: number | null | undefined; before !== null;) {
      const query = before === undefined ? "limit=100" : `limit=100&before=${before}`;
      const { status, json } = await this.#call("GET", `${resource}?${query}`);
      equal(status, 200);
      const page = json as Record<string, T[]> & { next: number | null };
      items.push(...(page[name] ?? []));
      before = page.next;
    }
    const numbers = items.map((item) => Number(item[number]));
    deepEqual(
      numbers,
      [...numbers].sort((a, b) => b - a),
    );
    return items.toReversed();
  }
}

function isCreation(i: number): boolean {
  return i % 5 < 2;
}
