import type { StoreState } from "../policy-api/api/ports.ts";
import { LimitedLog } from "./log.ts";
import { policyStore, type StoreBindings } from "./stores.ts";

/** Anybody may ask for the health. The store is asked at most once in this time for all callers, milliseconds. */
const READ_MS = 1_000;
const MARKER = "http://marker/store-id";
/** infra/workerd/set-aside.ts writes this file beside it. An operator removes it. */
const SET_ASIDE = "http://marker/set-aside";

const replacedLog = new LimitedLog("The policy store was emptied or replaced");

/** What is known of the store's health, in one isolate. */
export class StoreHealth {
  #state: StoreState | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;

  async check(env: StoreBindings, nowMs: number): Promise<StoreState> {
    if (this.#state !== undefined && Math.abs(nowMs - this.#readAtMs) < READ_MS) return this.#state;
    this.#readAtMs = nowMs;
    const store = policyStore(env);
    const read = await store.check().catch(() => null);
    const isReplaced = read !== null && !(await isMarked(env.MARKER, read.id));
    const isSetAside = await exists(env.MARKER, SET_ASIDE);
    const [tried] = await Promise.allSettled([store.tryWrite()]);
    const takesWrites = tried.status === "fulfilled";
    this.#state = { activation: read === null ? null : read.activation, takesWrites, isReplaced, isSetAside };
    if (isReplaced)
      replacedLog.write("it is not the one that this deployment had. docs/incidents.md says how to repair it");
    return this.#state;
  }

  /** Checks once in the life of an isolate, so that the log says early if the store was replaced. Never rejects. */
  async checkFirst(env: StoreBindings, nowMs: number): Promise<void> {
    if (this.#readAtMs === Number.NEGATIVE_INFINITY) await this.check(env, nowMs).catch(() => undefined);
  }
}

/**
 * Whether the store is the one that the marker names. The marker is a file in a folder of its own, and the first store
 * writes it. On Cloudflare there is none: nobody can empty an object there from outside.
 */
async function isMarked(marker: Fetcher | undefined, id: string): Promise<boolean> {
  try {
    const found = await marker?.fetch(MARKER);
    const text = await found?.text();
    if (found?.ok === true) return text?.trim() === id;
    if (found?.status === 404) await (await marker?.fetch(MARKER, { method: "PUT", body: id }))?.text();
  } catch {
    // Without its folder nothing can be said.
  }
  return true;
}

async function exists(marker: Fetcher | undefined, url: string): Promise<boolean> {
  const found = await marker?.fetch(url, { method: "HEAD" }).catch(() => undefined);
  return found?.ok === true;
}
