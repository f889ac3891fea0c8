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
  policy(): Promise<PolicyBundle>;
}

export interface StoreBindings {
  readonly PATHS: DurableObjectNamespace<PathStore>;
  readonly POLICY: DurableObjectNamespace<PolicyStore>;
}

/** The stores as Durable Objects. */
export function durableStores(env: StoreBindings): Stores {
  const paths = ({ region, number }: ObjectName): DurableObjectStub<PathStore> =>
    env.PATHS.get(env.PATHS.idFromName(`${region}:${number}`), region === "local" ? {} : { locationHint: region });
  return {
    // The types of RPC turn tuples into arrays; what arrives is what was sent.
    lookUp: async (object, keys) => (await paths(object).lookUp(keys)) as LookUpReply,
    record: async (object, reports) => paths(object).record(reports),
    policy: async () => policyStore(env).bundle(),
  };
}

/** The one object with the policy's versions. */
export function policyStore(env: Pick<StoreBindings, "POLICY">): DurableObjectStub<PolicyStore> {
  return env.POLICY.get(env.POLICY.idFromName("policy"));
}
