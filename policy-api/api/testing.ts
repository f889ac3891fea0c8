// What tests begin from: a store and clients in memory, and a caller. Nothing that is deployed imports it.
import { Validator } from "@cfworker/json-schema";
import { expect } from "vitest";
import type { Activation, ActivationChange, ActivePolicy, InForce, KillSwitch } from "../decision/activation.ts";
import type { Actuator } from "../decision/alt-svc.ts";
import type { Remembered } from "../decision/history.ts";
import type { JsonSchema } from "../decision/parse.ts";
import { INITIAL_POLICY, parsePolicy, type Policy, UNREADABLE } from "../decision/policy.ts";
import type { Stack } from "../decision/stack.ts";
import { MemoryActivations, pageOf } from "../decision/testing-activations.ts";
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
import { Gathered, type OutcomeRow } from "../visitors/gathered.ts";
import { createApi } from "./api.ts";
import type { Scope } from "./contract/access.ts";
import { NO_TALLY, type Tally } from "./counters/counted.ts";
import type { Extent } from "./counters/extent.ts";
import { FailedAttempts } from "./failed-attempts.ts";
import type {
  ClientsPort,
  ClientUnits,
  CountersPort,
  OutcomesPort,
  PolicyApiPorts,
  PolicyStorePort,
  StoreState,
  UnstoredKillPort,
} from "./ports.ts";
import { parseTokens, type Token, tokenEntry } from "./tokens.ts";

const INITIAL_VERSION: PolicyVersion = {
  version: 0,
  contentHash: "0".repeat(64),
  author: "initial",
  note: null,
  createdAt: new Date(0).toISOString(),
  mode: "observe",
  source: null,
};

/** The store of policies, in memory. */
export class MemoryStore implements PolicyStorePort {
  /** What no caller may see. */
  static readonly INSIDE = "internal: address 10.1.2.3";
  /** Whether it has stopped answering. */
  gone = false;
  /** Whether the activation cannot be read. */
  unreadable = false;
  /** Versions whose policy cannot be read. */
  readonly unreadableVersions = new Set<number>();
  /** Why, as the end of a sentence. */
  readonly #versions: { version: PolicyVersion; policy: Policy }[] = [];
  readonly #activations = new MemoryActivations((version) => {
    const active = this.#active(version) ?? { version };
    return active.policy === undefined ? active : undefined;
  });
  readonly #audit: AuditEntry[] = [];
  readonly #keys = new Map<string, { content: string; created: Created }>();

  async versions(page: PageRequest): Promise<Page<PolicyVersion> & { latest: number }> {
    this.#answers();
    const versions = this.#versions.map(({ version }) => version);
    return { ...pageOf(versions, ({ version }) => version, page), latest: versions.length };
  }

  async version(number: number): Promise<StoredVersion | undefined> {
    this.#answers();
    const version = number === 0 ? INITIAL_VERSION : this.#versions[number - 1]?.version;
    return version && { ...this.#active(number), version };
  }

  async create({ policy, author, note, ifMatch, idempotencyKey }: Creation): Promise<Created> {
    this.#answers();
    const parsed = parsePolicy(policy);
    if (!parsed.ok) throw new Error("the caller validates");
    const content = JSON.stringify([parsed.value, note]);
    const remembered = idempotencyKey === undefined ? undefined : this.#keys.get(`${author} ${idempotencyKey}`);
    if (remembered !== undefined) return remembered.content === content ? remembered.created : { kind: "key-reused" };
    const latest = this.#versions.length;
    if (ifMatch !== undefined && ifMatch !== "*" && !ifMatch.includes(latest))
      return { kind: "precondition-failed", latest };
    const contentHash = await hashOf(JSON.stringify(parsed.value));
    const before = this.#versions.find(({ version }) => version.contentHash === contentHash)?.version;
    const version = before ?? {
      version: latest + 1,
      contentHash,
      author,
      note,
      createdAt: new Date().toISOString(),
      mode: policy.mode,
      source: policy.source ?? null,
    };
    const created: Created = { kind: "created", isNew: before === undefined, version };
    if (before === undefined) {
      this.#versions.push({ version, policy: parsed.value });
      this.#enter(author, "policy.create", { version: version.version, note });
    }
    if (idempotencyKey !== undefined) this.#keys.set(`${author} ${idempotencyKey}`, { content, created });
    return created;
  }

  get current(): Activation {
    return this.#activations.current;
  }

  async activation(): Promise<Activation | undefined> {
    this.#answers();
    return this.unreadable ? undefined : this.#activations.current;
  }

  async activations(page: PageRequest): Promise<Page<Activation>> {
    this.#answers();
    return this.#activations.page(page);
  }

  async change(change: ActivationChange, request: ActivationRequest): Promise<ActivationChanged> {
    this.#answers();
    const { revision } = this.#activations.current;
    const result = this.#activations.change(change, request, new Date().toISOString());
    if (result.kind === "changed" && result.activation.revision > revision) {
      this.unreadable = false;
      const action =
        change.kind === "kill-switch"
          ? (`kill-switch.${change.to === null ? "off" : "on"}` as const)
          : (`activation.${change.kind}` as const);
      const { everyone, stages, killSwitch } = result.activation;
      const activation = { everyone, stages, killSwitch };
      this.#enter(request.author, action, { revision: revision + 1, activation, note: request.note });
    }
    return result;
  }

  async audit(page: PageRequest): Promise<Page<AuditEntry>> {
    this.#answers();
    return pageOf(this.#audit, ({ id }) => id, page);
  }

  async note(actor: string, action: Extract<AuditAction, `${string}.forget`>): Promise<void> {
    this.#answers();
    this.#enter(actor, action, {});
  }

  /** What an isolate would obey. */
  inForce(earlierOffersUntilMs: number): InForce | undefined {
    if (this.gone || this.unreadable) return undefined;
    const active = (version: number): ActivePolicy => this.#active(version) ?? { version };
    const { revision, everyone, stages, killSwitch } = this.#activations.current;
    return {
      revision,
      everyone: active(everyone),
      stages: stages.map((stage) => ({ ...stage, ...active(stage.version) })),
      killSwitch,
      earlierOffersUntilMs,
      sinceMs: 0,
    };
  }

  #active(version: number): ActivePolicy | undefined {
    const policy = version === 0 ? INITIAL_POLICY : this.#versions[version - 1]?.policy;
    return policy && (this.unreadableVersions.has(version) ? { version, fault: UNREADABLE } : { version, policy });
  }

  #answers(): void {
    if (this.gone) throw new Error(MemoryStore.INSIDE);
  }

  #enter(actor: string, action: AuditAction, over: Partial<AuditEntry>): void {
    const entry = { id: this.#audit.length + 1, at: new Date().toISOString(), actor, action };
    this.#audit.push({ ...entry, version: null, revision: null, activation: null, note: null, ...over });
  }
}

/** Clients by address. */
export class MemoryClients implements ClientsPort {
  readonly known = new Map<string, Remembered>();
  readonly ofUnits = new Map<string, ClientUnits>();
  /** The calls, in their order. */
  readonly calls: string[] = [];

  async lookUp(address: string): Promise<Remembered | undefined> {
    this.calls.push(`look up ${address}`);
    return this.known.get(address) ?? {};
  }

  async forget(address: string): Promise<number | undefined> {
    this.calls.push(`forget ${address}`);
    return this.known.delete(address) ? 1 : 0;
  }

  async units(address: string): Promise<ClientUnits | undefined> {
    this.calls.push(`units ${address}`);
    return this.ofUnits.get(address) ?? { activation: 0.5, share: 0.5, exploration: 0.5 };
  }
}

/** What pages reported. */
export class MemoryOutcomes implements OutcomesPort {
  rows: readonly OutcomeRow[] = [];
  objects = { asked: 32, answered: 32 };
  /** The versions that were asked for. */
  readonly asked: number[] = [];

  async outcomes(version: number): ReturnType<OutcomesPort["outcomes"]> {
    this.asked.push(version);
    return {
      gathered: new Gathered(
        version,
        this.rows.filter((row) => row.version === version),
      ),
      objects: this.objects,
    };
  }
}

/** What was counted. */
export class MemoryCounters implements CountersPort {
  tally: Tally = NO_TALLY;
  objects = { asked: 1, answered: 1 };
  /** The hours from which on they were asked for. */
  readonly asked: number[] = [];

  async read(fromHour: number): ReturnType<CountersPort["read"]> {
    this.asked.push(fromHour);
    return { tally: this.tally, objects: this.objects };
  }

  /** What each object keeps; one of them does not answer. */
  parts: readonly Extent[] = [];
  async kept(): ReturnType<CountersPort["kept"]> {
    return { parts: this.parts, asked: this.parts.length + 1 };
  }
}

/** The ports of an API over a store in memory. */
export class TestPorts implements PolicyApiPorts {
  readonly store = new MemoryStore();
  readonly clients = new MemoryClients();
  readonly outcomes = new MemoryOutcomes();
  readonly counters = new MemoryCounters();
  tokens: readonly Token[] = [];
  failedAttempts = new FailedAttempts();
  corsOrigins: readonly string[] = [];
  settingsFaults: PolicyApiPorts["settingsFaults"] = [];
  earlierOffersUntilMs = 0;
  /** How many changes it was told about. */
  changes = 0;

  async inForce(): Promise<InForce | undefined> {
    return this.store.inForce(this.earlierOffersUntilMs);
  }

  async changed(): Promise<void> {
    this.changes++;
  }

  takesWrites = true;
  isReplaced = false;
  isSetAside = false;
  async checkStore(): Promise<StoreState> {
    const activation = await this.store.activation().catch(() => null);
    const { takesWrites, isReplaced, isSetAside } = this;
    return { activation, takesWrites, isReplaced, isSetAside };
  }

  probed: Awaited<ReturnType<PolicyApiPorts["probe"]>> = {
    actuator: "header",
    header: "alt-svc",
    edge: "cloudflare",
    httpProtocol: "HTTP/2",
    cf: ["httpProtocol", "clientTcpRtt"],
    policyMs: 12,
    lookUpMs: 7,
    budgetMs: 5,
    assets: { origin: "https://files.test", paths: ["/static/"] },
  };
  async probe(_request: Request, actuator?: Actuator): ReturnType<PolicyApiPorts["probe"]> {
    return { ...this.probed, header: actuator === "marker" ? "h3-advice" : this.probed.header };
  }

  originLost = false;
  isOriginLost(): boolean {
    return this.originLost;
  }

  http3: ReturnType<PolicyApiPorts["edgeHttp3"]> = "unknown";
  edgeHttp3(): ReturnType<PolicyApiPorts["edgeHttp3"]> {
    return this.http3;
  }

  buffers: ReturnType<PolicyApiPorts["udpBuffers"]> = null;
  udpBuffers(): ReturnType<PolicyApiPorts["udpBuffers"]> {
    return this.buffers;
  }

  stack: Stack | null = null;
  servingStack(): Stack | null {
    return this.stack;
  }

  killed: { kind: KillSwitch; author: string; note: string | null } | undefined;
  readonly unstoredKill: UnstoredKillPort = {
    held: () => this.killed,
    hold: (kind, author, note) => void (this.killed = { kind, author, note }),
    settle: () => void (this.killed = undefined),
  };

  /** The failures that it was told to log. */
  readonly failures: unknown[] = [];

  failed(error: unknown): void {
    this.failures.push(error);
  }

  callerAddress(request: Request): string | undefined {
    return request.headers.get("x-test-address") ?? undefined;
  }
}

/** The tokens of these tests, by scope. */
export const TOKENS = {
  write: "wr1te.t0ken-0123456789~+/==",
  read: "re4d.t0ken-9876543210",
  autopilot: "4uto.t0ken-5555",
} as const;

/** The entries of these tokens: `ann` may write, `bob` may read, `auto` is the autopilot. */
export async function testTokens(): Promise<readonly Token[]> {
  return tokensOf(
    ["ann", "write", TOKENS.write],
    ["bob", "read", TOKENS.read],
    ["auto", "autopilot", TOKENS.autopilot],
  );
}

export async function tokensOf(...entries: [name: string, scope: Scope, token: string][]): Promise<readonly Token[]> {
  return parseTokens((await Promise.all(entries.map((entry) => tokenEntry(...entry)))).join(" ")).tokens;
}

export interface Reply {
  readonly status: number;
  /** Undefined unless the body is JSON. */
  readonly json: Record<string, unknown>;
  readonly text: string;
  readonly headers: Headers;
}

export interface CallOptions {
  /** An object is sent as JSON, text as it is. */
  readonly body?: unknown;
  /** The default is `write`. An empty text sends no token. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly ifMatch?: string;
}

const api = createApi<{ ports: PolicyApiPorts }>((env) => env.ports);
const context = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} };

/** Sends one request. Nothing checks the reply. */
export async function send(ports: PolicyApiPorts, request: Request): Promise<Response> {
  return api.fetch(request, { ports }, context);
}

/** Calls the API, and checks the reply by the rules for every reply and by the API's own document. */
export async function callApi(
  ports: PolicyApiPorts,
  method: string,
  resource: string,
  { body, token = TOKENS.write, headers = {}, ifMatch }: CallOptions = {},
): Promise<Reply> {
  const response = await send(
    ports,
    new Request(`https://site.test/_h3/v1/${resource}`, {
      method,
      headers: {
        ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
        ...(ifMatch === undefined ? {} : { "if-match": ifMatch }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    }),
  );
  const text = await response.text();
  const type = response.headers.get("content-type") ?? "";
  const reply = {
    status: response.status,
    text,
    headers: response.headers,
    json: (type.includes("json") && text !== "" ? JSON.parse(text) : undefined) as Record<string, unknown>,
  };
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  for (const secret of [
    ...Object.values(TOKENS),
    ...ports.tokens.map(({ sha256 }) => hexOf(sha256)),
    MemoryStore.INSIDE,
  ])
    expect(text + JSON.stringify([...response.headers])).not.toContain(secret);
  if (reply.status >= 400 && !resource.startsWith("health")) {
    expect(type).toBe("application/problem+json");
    if (method !== "HEAD") expect(reply.json).toMatchObject({ type: "about:blank", status: reply.status });
  }
  await expectDocumented(ports, method, resource, reply);
  return reply;
}

interface Documented {
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema: JsonSchema }> }>;
}
export interface ApiDocument {
  readonly openapi: string;
  readonly info: Record<string, unknown>;
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Record<string, Record<string, Documented & Record<string, unknown>>>;
  readonly components: { readonly schemas: Record<string, JsonSchema>; readonly securitySchemes: object };
}

let document: ApiDocument | undefined;

/** The API's description of itself. */
export async function apiDocument(ports: PolicyApiPorts): Promise<ApiDocument> {
  document ??= (await (await send(ports, new Request("https://site.test/_h3/v1/openapi.json"))).json()) as ApiDocument;
  return document;
}

async function expectDocumented(ports: PolicyApiPorts, method: string, resource: string, reply: Reply): Promise<void> {
  const { paths, components } = await apiDocument(ports);
  const path = `/_h3/v1/${resource.split("?")[0]}`;
  const named = Object.entries(paths).find(([template]) =>
    new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path),
  );
  const operation = named?.[1][method === "HEAD" ? "get" : method.toLowerCase()];
  if (operation === undefined) return;
  const place = `${method} ${path}: ${reply.status}`;
  const documented = operation.responses[reply.status];
  expect(documented, `${place} is documented`).toBeDefined();
  const schema = Object.values(documented?.content ?? {})[0]?.schema;
  if (schema === undefined || method === "HEAD") expect(reply.text, place).toBe("");
  else
    expect(
      new Validator({ ...schema, components }, "2020-12").validate(reply.json ?? reply.text).errors,
      place,
    ).toEqual([]);
}

async function hashOf(text: string): Promise<string> {
  return hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

export function hexOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Every call of the API, with a token that may write: its operation, and the status of its answer. */
export const CALLS: readonly {
  readonly method: string;
  readonly template: string;
  readonly resource: string;
  readonly body?: object;
  readonly ifMatch?: string;
  readonly scope: Scope;
  readonly status: number;
}[] = [
  ...[
    "policies",
    "policies/{version}",
    "policies/{version}/diff/{other}",
    "activation",
    "activation/history",
    "audit",
    "results",
    "results/proposal",
    "stats",
    "stats/store",
    "metrics",
  ].map((template) => ({
    method: "GET",
    template,
    resource: template.replaceAll(/\{\w+\}/g, "0"),
    scope: "read" as const,
    status: 200,
  })),
  { method: "GET", template: "probe", resource: "probe?answer=clear", scope: "read", status: 200 },
  ...(
    [
      ["POST", "policies", 201, { body: { policy: { schema: 3, mode: "observe", source: "new" } } }, "write"],
      ["PUT", "activation", 200, { body: { everyone: 0 }, ifMatch: "*" }, "write"],
      ["POST", "activation/rollback", 200, { ifMatch: "*" }, "write"],
      ["PUT", "activation/kill-switch", 200, { body: { kind: "clear" }, ifMatch: "*" }, "write"],
      ["DELETE", "activation/kill-switch", 200, { ifMatch: "*" }, "write"],
      ["POST", "decisions", 200, { body: { paths: [{ transport: "tcp" }] } }, "read"],
      ["POST", "decisions/explain", 200, { body: { request: { transport: "tcp" } } }, "read"],
      ["POST", "clients/look-up", 200, { body: { address: "192.0.2.7" } }, "read"],
      ["POST", "clients/forget", 200, { body: { address: "192.0.2.7" } }, "write"],
    ] as const
  ).map(([method, resource, status, options, scope]) => ({
    method,
    template: resource,
    resource,
    status,
    scope,
    ...options,
  })),
];

/** The API with those two tokens, and a store in which version 1 (fixed-h2) is in force, as revision 1. */
export async function testPorts(): Promise<TestPorts> {
  const ports = new TestPorts();
  ports.tokens = await testTokens();
  await ports.store.create({ policy: { ...INITIAL_POLICY, mode: "fixed-h2" }, author: "setup", note: null });
  const put: ActivationChange = { kind: "put", everyone: 1, stages: [] };
  await ports.store.change(put, { author: "setup", note: null, ifMatch: "*" });
  return ports;
}

/** The faults of a problem, as `pointer: message`. */
export function faultsOf({ json }: Reply): string[] {
  const { faults = [] } = (json ?? {}) as { faults?: { pointer: string; message: string }[] };
  return faults.map(({ pointer, message }) => `${pointer}: ${message}`);
}
