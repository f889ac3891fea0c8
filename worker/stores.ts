import type { CounterStore } from "../durable/counter-store.ts";
import type { Delta } from "../policy-api/api/counters/counted.ts";
import type { ClientKeys, ClientReport, RefusedPages } from "../durable/client-report.ts";
import type { PathStore } from "../durable/path-store.ts";
import type { PolicyBundle, PolicyStore } from "../durable/policy-store.ts";
import type { Remembered } from "../policy-api/decision/history.ts";
import type { Region } from "./region.ts";
import type { UnstoredKill } from "./unstored-kill.ts";

/** The object that holds a client. */
export interface PathObject {
  readonly name: string;
  readonly region: Region;
}

/** @param number What the client's network hashes to: from 0 to OBJECTS_PER_REGION - 1. */
export function pathObject(region: Region, number: number): PathObject {
  return { name: `${region}:${number}`, region };
}

/** What the stores know a client by. */
export interface StoredClient {
  readonly keys: ClientKeys;
  readonly object: PathObject;
}

/** The state behind the worker, as the visitor's path sees it. Each call may reject, or never answer. */
export interface Stores {
  lookUp(client: StoredClient): Promise<Remembered>;
  record(object: PathObject, reports: readonly ClientReport[]): Promise<RefusedPages>;
  /** @param heldRevision The revision that the isolate has. If it is still in force, the answer is `unchanged`. */
  policyBundle(heldRevision?: number): Promise<PolicyBundle | "unchanged">;
  /** Adds what an isolate counted. */
  count(region: Region, delta: Delta): Promise<void>;
  /** Stores a kill switch that the store could not take before. @returns the revision that is in force then */
  storeKill(kill: UnstoredKill): Promise<number>;
}

/** As wrangler.toml binds them, and what it does not. */
export interface StoreBindings extends Pick<Cloudflare.Env, "PATHS" | "POLICY" | "COUNTERS"> {
  /** A folder outside of the store, with the store's id. Only on one's own machine (infra/workerd/config.capnp). */
  readonly MARKER?: Fetcher;
}

/** The stores as Durable Objects. */
export function durableStores(env: StoreBindings): Stores {
  return {
    lookUp: async ({ object, keys }) => pathStore(env, object).lookUp(keys),
    record: async (object, reports) => pathStore(env, object).record(reports),
    count: async (region, delta) => counterStore(env, region).add(delta),
    policyBundle: async (heldRevision) => policyStore(env).bundle(heldRevision),
    storeKill: async (kill) => policyStore(env).storeKill(kill),
  };
}

export function pathStore({ PATHS }: StoreBindings, { name, region }: PathObject): DurableObjectStub<PathStore> {
  return PATHS.get(PATHS.idFromName(name), hintOf(region));
}

/** The object with what a region's isolates counted. */
export function counterStore({ COUNTERS }: StoreBindings, region: Region): DurableObjectStub<CounterStore> {
  return COUNTERS.get(COUNTERS.idFromName(region), hintOf(region));
}

function hintOf(region: Region): DurableObjectNamespaceGetDurableObjectOptions {
  return region === "local" ? {} : { locationHint: region };
}

/** The object with the policy's versions: there is one for the deployment. */
export function policyStore(env: StoreBindings): DurableObjectStub<PolicyStore> {
  return env.POLICY.get(env.POLICY.idFromName("policy"));
}
