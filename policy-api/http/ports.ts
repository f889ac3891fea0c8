import type { Policy, PolicyInForce } from "../core/policy.ts";

/** The store of policies as this API needs it; whoever mounts the API passes one in. */
export interface PolicyStorePort {
  /** The policy in force; undefined when the stored one cannot be read. Rejects when the store does not answer. */
  current(): Promise<PolicyInForce | undefined>;
  /** Puts a valid policy in force; it is durable when this resolves. */
  put(policy: Policy): Promise<PolicyInForce>;
}

export interface PolicyApiPorts {
  readonly store: PolicyStorePort;
  /** The bearer token that callers must send; undefined turns the writing side off. */
  readonly token: string | undefined;
  /** Called after a policy was put: whoever serves this API obeys it before it answers. Never rejects. */
  policyChanged(inForce: PolicyInForce): Promise<void>;
  /** Variables of the deployment that could not be read. */
  readonly settingsFaults: readonly { readonly name: string; readonly message: string }[];
}
