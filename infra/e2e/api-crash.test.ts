import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { INITIAL_POLICY, type Policy } from "../../policy-api/core/policy.ts";
import { type ApiMethod, type ApiReply, callApi } from "../workerd/policy-client.ts";
import { startWorkerd } from "../workerd/workerd.ts";
import { testFolder } from "./harness.ts";

const TOKEN = "token-of-a-crash";
const CHANGES = 200;
const CRASHES = 10;

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

/** Pseudo-random numbers, the same in every run: mulberry32. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const policyNumber = (i: number): Policy => ({ ...INITIAL_POLICY, mode: "fixed-h3", source: `number ${i}` });

it("kill -9 at random moments during 200 changes loses no acknowledged change, and leaves no change half done", async () => {
  const workerd = await startWorkerd({
    stateDir: testFolder(),
    origin: "http://127.0.0.1:9",
    token: TOKEN,
    onErrorLine: () => undefined,
  });
  onTestFinished(() => workerd.stop());
  const random = seeded(5);
  const call = (method: ApiMethod, resource: string, body?: unknown, headers?: Record<string, string>) =>
    callApi(workerd.visitorsSocket, TOKEN, method, resource, body, headers);

  const versions = new Map<number, number>();
  const activations: Activation[] = [];
  let lost = 0;
  let resent = 0;
  const crashAt = new Set<number>();
  while (crashAt.size < CRASHES) crashAt.add(5 + Math.floor(random() * (CHANGES - 10)));

  for (let i = 0; i < CHANGES; i++) {
    const change = (): Promise<ApiReply> => {
      const kind = i % 5;
      if (kind < 2 || versions.size === 0)
        return call("POST", "policies", { policy: policyNumber(i) }, { "idempotency-key": `change-${i}` });
      const version = [...versions.keys()][Math.floor(random() * versions.size)] ?? 1;
      const headers = { "if-match": "*" };
      if (kind === 2) return call("PUT", "activation", { everyone: version }, headers);
      if (kind === 3)
        return call("PUT", "activation", { everyone: 0, stages: [{ version, share: (i + 1) / CHANGES }] }, headers);
      if (random() < 0.5) return call("POST", "activation/rollback", {}, headers);
      return call("PUT", "activation/kill-switch", { kind: random() < 0.5 ? "fixed-h2" : "clear" }, headers);
    };
    const calling = change().catch(() => undefined);
    let crashing: Promise<void> | undefined;
    if (crashAt.has(i)) {
      // The crash may come before the store takes the change, while it writes it, or after it acknowledges it.
      await sleep(random() * 4);
      crashing = workerd.crash();
    }
    const reply = await calling;
    await crashing;
    if (reply === undefined || reply.status >= 500) {
      lost++;
      // The caller cannot know whether the change was made. With its key, the call can be repeated and is made only once.
      if (i % 5 < 2) {
        const again = await call("POST", "policies", { policy: policyNumber(i) }, { "idempotency-key": `change-${i}` });
        expect([200, 201]).toContain(again.status);
        versions.set((again.json as { version: number }).version, i);
        resent++;
      }
    } else if (reply.status === 201) versions.set((reply.json as { version: number }).version, i);
    else if (reply.status === 200) activations.push(reply.json as Activation);
    // A rollback with nothing to go back to.
    else expect(reply.status).toBe(409);
    if (crashing !== undefined) await checkAll(call, versions, activations, lost);
  }
  await workerd.crash();
  await checkAll(call, versions, activations, lost);
  // Some crashes came during a call, so changes could have been lost.
  expect(lost).toBeGreaterThan(0);
  expect(resent).toBeLessThanOrEqual(lost);
  expect(versions.size).toBe((CHANGES / 5) * 2);
  expect(activations.length).toBeGreaterThan(80);
});

/** Compares what the store has with what it acknowledged. */
async function checkAll(
  call: (method: ApiMethod, resource: string) => Promise<ApiReply>,
  versions: ReadonlyMap<number, number>,
  activations: readonly Activation[],
  lost: number,
): Promise<void> {
  const stored = await all<{ version: number; source: string }>(call, "policies", "policies", "version");
  expect(stored.map(({ version }) => version)).toEqual(stored.map((_, i) => i + 1));
  for (const [version, i] of versions) expect(stored[version - 1]).toMatchObject({ version, source: `number ${i}` });
  expect(new Set(stored.map(({ source }) => source)).size).toBe(stored.length);

  const history = await all<Activation>(call, "activation/history", "activations", "revision");
  expect(history.map(({ revision }) => revision)).toEqual(history.map((_, i) => i + 1));
  // A change that changes nothing makes no revision. Its answer is the current one.
  for (const activation of activations) expect(history[activation.revision - 1]).toEqual(activation);
  const acknowledged = new Set(activations.map(({ revision }) => revision));
  expect(history.length - acknowledged.size).toBeLessThanOrEqual(lost);

  const audit = await all<AuditEntry>(call, "audit", "entries", "id");
  expect(audit.map(({ id }) => id)).toEqual(audit.map((_, i) => i + 1));
  const created = audit.filter(({ action }) => action === "policy.create").map(({ version }) => version);
  expect(created).toEqual(stored.map(({ version }) => version));
  const changed = audit.filter(({ action }) => action !== "policy.create").map(({ revision }) => revision);
  expect(changed).toEqual(history.map(({ revision }) => revision));
}

/** All entries of a list, oldest first. */
async function all<T>(
  call: (method: ApiMethod, resource: string) => Promise<ApiReply>,
  resource: string,
  name: string,
  number: keyof T,
): Promise<T[]> {
  const items: T[] = [];
  for (let before: number | null | undefined; before !== null;) {
    const query = before === undefined ? "limit=100" : `limit=100&before=${before}`;
    const { status, json } = await call("GET", `${resource}?${query}`);
    expect(status).toBe(200);
    const page = json as Record<string, T[]> & { next: number | null };
    items.push(...(page[name] ?? []));
    before = page.next;
  }
  const numbers = items.map((item) => Number(item[number]));
  expect(numbers).toEqual([...numbers].sort((a, b) => b - a));
  return items.toReversed();
}
