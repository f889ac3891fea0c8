import type { Activation, ActivationChange, InForce } from "../core/activation.ts";
import type { Remembered } from "../core/history.ts";
import type { Policy } from "../core/policy.ts";
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
} from "../core/versions.ts";
import type { FailedAttempts } from "./failed-attempts.ts";
import type { Token } from "./tokens.ts";

/**
 * The store of policies as this API needs it; whoever mounts the API passes one in. Each call is one transaction, durable
 * when it resolves; it rejects when the store does not answer.
 */
export interface PolicyStorePort {
  versions(page: PageRequest): Promise<Page<PolicyVersion> & { readonly latest: number }>;
  version(
    version: number,
  ): Promise<{ readonly version: PolicyVersion; readonly policy: Policy | undefined } | undefined>;
  create(creation: Creation): Promise<Created>;
  /** Undefined when the stored one cannot be read. */
  activation(): Promise<Activation | undefined>;
  activations(page: PageRequest): Promise<Page<Activation>>;
  change(change: ActivationChange, request: ActivationRequest): Promise<ActivationChanged>;
  audit(page: PageRequest): Promise<Page<AuditEntry>>;
  note(actor: string, action: Extract<AuditAction, `${string}.forget`>): Promise<void>;
}

/** 0 to 1 each, uniform over clients, in domains of their own. */
export interface ClientUnits {
  readonly activation: number;
  readonly share: number;
  readonly exploration: number;
}

/** What is known of clients. Addresses go in as they came, and are hashed before anything is looked up. */
export interface ClientsPort {
  /** Undefined for what is no address. */
  lookUp(address: string, asn?: number): Promise<Remembered | undefined>;
  /** How many rows were forgotten; undefined for what is no address. */
  forget(what: "client" | "network", address: string): Promise<number | undefined>;
  units(address: string, nowMs: number): Promise<ClientUnits | undefined>;
}

export interface PolicyApiPorts {
  readonly store: PolicyStorePort;
  readonly clients: ClientsPort;
  /** What this isolate obeys: at most 30 s old while the store answers. Undefined when there is none, or it cannot be read. */
  inForce(): Promise<InForce | undefined>;
  /** For whoever asks, without a token: the store is not asked for each. Null where it does not answer. */
  checkActivation(): Promise<Activation | undefined | null>;
  /** Called after a change: whoever serves this API obeys it before it answers. Never rejects. */
  changed(): Promise<void>;
  /** Who may call; without any token all but what needs none is off. */
  readonly tokens: readonly Token[];
  readonly failedAttempts: FailedAttempts;
  /** Told what failed inside, for the log. */
  failed(error: unknown): void;
  /** Whose script may call from a browser (CORS): origins such as https://console.example.com. */
  readonly corsOrigins: readonly string[];
  /** Where the request comes from, if that can be believed. */
  callerAddress(request: Request): string | undefined;
  /** Variables of the deployment that could not be read. */
  readonly settingsFaults: readonly { readonly name: string; readonly message: string }[];
}
