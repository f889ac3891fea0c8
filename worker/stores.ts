import type { ClientKeys, ClientReport, LookUpReply } from "../durable/path-store-api.ts";
import type { PathStore } from "../durable/path-store.ts";
import type { PolicyBundle, PolicyStore } from "../durable/policy-store.ts";
import type { Region } from "./region.ts";

/** Which object holds a client: the region and the number that its network hashes to. */
export interface ObjectName {
  readonly region: Region;
  readonly number: number;
}

/** The state behind the worker, as the visitor's path sees it. Every call may reject or never answer. */
export interface Stores {
  lookUp(object: ObjectName, keys: ClientKeys): Promise<LookUpReply>;
  record(object: ObjectName, reports: readonly ClientReport[]): Promise<void>;
  /** @param heldRevision What the isolate has: `unchanged` where that is still in force. */
  policy(heldRevision?: number): Promise<PolicyBundle | "unchanged">;
}

export interface StoreBindings {
  readonly PATHS: DurableObjectNamespace<PathStore>;
  readonly POLICY: DurableObjectNamespace<PolicyStore>;
}

/** The stores as Durable Objects. */
export function durableStores(env: StoreBindings): Stores {
  return {
    // The types of RPC turn tuples into arrays; what arrives is what was sent.
    lookUp: async (object, keys) => (await pathStore(env, object).lookUp(keys)) as LookUpReply,
    record: async (object, reports) => pathStore(env, object).record(reports),
    policy: async (heldRevision) => policyStore(env).bundle(heldRevision),
  };
}

/** The object that holds a client. */
export function pathStore(
  env: Pick<StoreBindings, "PATHS">,
  { region, number }: ObjectName,
): DurableObjectStub<PathStore> {
  return env.PATHS.get(env.PATHS.idFromName(`${region}:${number}`), region === "local" ? {} : { locationHint: region });
}

/** The one object with the policy's versions. */
export function policyStore(env: Pick<StoreBindings, "POLICY">): DurableObjectStub<PolicyStore> {
  return env.POLICY.get(env.POLICY.idFromName("policy"));
}
