import { createHash } from "node:crypto";
import type { KillSwitch, Stage } from "../core/activation.ts";
import type { Policy } from "../core/policy.ts";
import type { ClientRecord } from "../contract/clients.ts";
import type { NewQuestion } from "../contract/decisions.ts";
import type { PageQuery } from "../contract/fields.ts";
import { clientOf } from "./client.ts";
import type { Endpoint } from "./endpoint.ts";
import { EXIT, Failure } from "./failure.ts";

export type Api = ReturnType<typeof connect>;

export interface NewActivation {
  readonly everyone: number;
  readonly stages: readonly Stage[];
  readonly note?: string | undefined;
}

/** The calls that commands make. All reject with a Failure. */
export function connect(endpoint: Endpoint) {
  const api = clientOf(endpoint);
  const { activation } = api;
  const matching = (etag: string) => ({ header: { "if-match": etag } });
  return {
    origin: endpoint.origin,
    health: async () => {
      const reply = await api.health.$get();
      return { status: reply.status, body: await reply.json() };
    },
    versions: (query: PageQuery) => body(api.policies.$get({ query })),
    version: (version: number) =>
      body(api.policies[":version"].$get({ param: { version: String(version) }, header: {} })),
    push: async (policy: Policy, note: string | undefined) => {
      const json = { policy, note };
      // The key is made of the content, so that whoever does not know whether a push arrived can push again.
      const key = createHash("sha256").update(JSON.stringify(json)).digest("hex");
      const reply = await api.policies.$post({ json, header: { "idempotency-key": key } });
      return { status: reply.status, body: await reply.json() };
    },
    /** What is in force, and the tag that a change of it must name. */
    activation: async () => {
      const reply = await activation.$get({ header: {} });
      const etag = reply.headers.get("etag") ?? "";
      if (etag === "")
        throw new Failure(
          EXIT.unreachable,
          `${endpoint.origin} sends no ETag: does something in front of it remove it?`,
        );
      return { activation: await reply.json(), etag };
    },
    history: (query: PageQuery) => body(activation.history.$get({ query })),
    activate: ({ stages, ...to }: NewActivation, etag: string) =>
      body(activation.$put({ json: { ...to, stages: [...stages] }, ...matching(etag) })),
    rollBack: (note: string | undefined, etag: string) =>
      body(activation.rollback.$post({ json: { note }, ...matching(etag) })),
    // In an incident nobody should wait because somebody else changed something meanwhile.
    kill: (kind: KillSwitch, note: string | undefined) =>
      body(activation["kill-switch"].$put({ json: { kind, note }, ...matching("*") })),
    endKill: (etag: string) => body(activation["kill-switch"].$delete(matching(etag))),
    explain: (json: NewQuestion) => body(api.decisions.explain.$post({ json })),
    lookUp: (what: "clients" | "networks", address: string): Promise<ClientRecord> =>
      body(api[what]["look-up"].$post({ json: { address } })),
    forget: (what: "clients" | "networks", address: string) => body(api[what].forget.$post({ json: { address } })),
    audit: (query: PageQuery) => body(api.audit.$get({ query })),
  };
}

async function body<T>(reply: Promise<{ json(): Promise<T> }>): Promise<T> {
  return (await reply).json();
}
