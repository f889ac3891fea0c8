import type { Activation, ActivationChange, InForce, KillSwitch } from "../decision/activation.ts";
import type { Actuator } from "../decision/alt-svc.ts";
import type { Remembered } from "../decision/history.ts";
import type { Stack } from "../decision/stack.ts";
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
  StoredVersion,
} from "../decision/versions.ts";
import type { Gathered } from "../visitors/gathered.ts";
import type { Objects } from "../visitors/results.ts";
import type { Probe } from "./contract/deployment.ts";
import type { Tally } from "./counters/counted.ts";
import type { Extent } from "./counters/extent.ts";
import type { FailedAttempts } from "./failed-attempts.ts";
import type { Token } from "./tokens.ts";

/**
 * The store of policies, as this API needs it. The worker passes it in. Each call is one transaction, which is durable when
 * the call resolves. A call rejects when the store does not answer.
 */
export interface PolicyStorePort {
  versions(page: PageRequest): Promise<Page<PolicyVersion> & { readonly latest: number }>;
  version(version: number): Promise<StoredVersion | undefined>;
  create(creation: Creation): Promise<Created>;
  /** Undefined if the stored activation cannot be read. */
  activation(): Promise<Activation | undefined>;
  activations(page: PageRequest): Promise<Page<Activation>>;
  change(change: ActivationChange, request: ActivationRequest): Promise<ActivationChanged>;
  audit(page: PageRequest): Promise<Page<AuditEntry>>;
  note(actor: string, action: Extract<AuditAction, "client.forget">): Promise<void>;
}

/** Three numbers from 0 to 1 for a client. Each is uniform over clients and independent of the others. */
export interface ClientUnits {
  readonly activation: number;
  readonly share: number;
  readonly exploration: number;
}

/** What is known about clients. The worker hashes an address before it looks anything up. */
export interface ClientsPort {
  /** Undefined if the text is not an address. */
  lookUp(address: string): Promise<Remembered | undefined>;
  /** Resolves with the number of deleted rows; undefined if the text is not an address. */
  forget(address: string): Promise<number | undefined>;
  units(address: string, nowMs: number): Promise<ClientUnits | undefined>;
}

/** What visitors' pages reported. */
export interface OutcomesPort {
  /** What the objects hold of a version. Objects that fail are not waited for. */
  outcomes(version: number): Promise<{ readonly gathered: Gathered; readonly objects: Objects }>;
}

/** Of the TLS edge's UDP sockets, as the kernel has them, bytes. */
export interface UdpBuffers {
  readonly receiveBytes: number;
  readonly sendBytes: number;
  /** What QUIC wants of each. */
  readonly wantedBytes: number;
}

/** What the deployment counted. */
export interface CountersPort {
  /**
   * What the regions' objects hold, together: in all, and in each hour from this one on. This isolate first tells what it counted itself.
   * Objects that fail are not waited for.
   */
  read(fromHour: number): Promise<{ readonly tally: Tally; readonly objects: Objects }>;
  /** How much each of the store's objects keeps of clients. Objects that fail are not waited for. */
  kept(): Promise<{ readonly parts: readonly Extent[]; readonly asked: number }>;
}

/** What is known of the store without a token. */
export interface StoreState {
  /** Undefined if it cannot be read; null if the store does not answer. */
  readonly activation: Activation | undefined | null;
  readonly takesWrites: boolean;
  /** Whether this is another store than the deployment had: somebody emptied or replaced it. */
  readonly isReplaced: boolean;
  /** Whether a database of what is known about clients was set aside, and nobody has taken note of it. */
  readonly isSetAside: boolean;
}

/** A kill switch that is in force although the store could not take it. */
export interface UnstoredKillPort {
  held(): { readonly kind: KillSwitch; readonly author: string } | undefined;
  hold(kind: KillSwitch, author: string, note: string | null): void;
  /** Turns it off, or leaves it to the store, which has taken one. */
  settle(): void;
}

export interface PolicyApiPorts {
  readonly store: PolicyStorePort;
  readonly clients: ClientsPort;
  readonly outcomes: OutcomesPort;
  readonly counters: CountersPort;
  /** What this isolate obeys, at most 30 s old. Undefined if it cannot be read, or the store did not answer for longer. */
  inForce(): Promise<InForce | undefined>;
  /** For callers without a token, so not each of them reaches the store. */
  checkStore(): Promise<StoreState>;
  readonly unstoredKill: UnstoredKillPort;
  /** Whether the origin answered no request for a minute or longer though some came. */
  isOriginLost(): boolean;
  /** What the TLS edge says about its HTTP/3; `unknown` if no edge says anything. */
  edgeHttp3(): "ok" | "down" | "off" | "unknown";
  /** Of the TLS edge's sockets for HTTP/3 the smallest. Null: no edge says anything. */
  udpBuffers(): UdpBuffers | null;
  /** The stack that serves, as the TLS edge says it with this request. Null: it does not. */
  servingStack(request: Request): Stack | null;
  /** What the worker knows of a call's connection, and how long the store takes from here. `header`: that of an actuator. */
  probe(request: Request, actuator: Actuator | undefined): Promise<Omit<Probe, "program" | "value">>;
  /** Called after a change, so that this isolate obeys it before the API answers. Never rejects. */
  changed(): Promise<void>;
  /** Who may call. Without tokens, every route that needs a token is off. */
  readonly tokens: readonly Token[];
  readonly failedAttempts: FailedAttempts;
  /** Logs what failed inside the API. */
  failed(error: unknown): void;
  /** The origins whose scripts may call from a browser (CORS), such as https://console.example.com. */
  readonly corsOrigins: readonly string[];
  /** The address of the caller; undefined if it cannot be trusted. */
  callerAddress(request: Request): string | undefined;
  /** Variables of the deployment whose values cannot be read. */
  readonly settingsFaults: readonly { readonly name: string; readonly message: string }[];
}
