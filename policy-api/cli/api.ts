import { createHash } from "node:crypto";
import type { KillSwitch } from "../decision/activation.ts";
import type { Policy } from "../decision/policy.ts";
import type { Activation, NewActivation, UnstoredKillSwitch } from "../api/contract/policies.ts";
import type { ClientRecord, NewQuestion } from "../api/contract/decisions.ts";
import { clientOf } from "./client.ts";
import type { Endpoint } from "./endpoint.ts";
import { EXIT, Failure } from "./failure.ts";
import type { PageOptions } from "./options.ts";

/** The activation in force, or what could not be stored. */
type KillReply = Activation | UnstoredKillSwitch;

export type Api = ReturnType<typeof connect>;

/** The calls that commands make. All reject with a Failure. */
export function connect(endpoint: Endpoint) {
  const api = clientOf(endpoint);
  const { activation } = api;
  const matching = (etag: string) => ({ header: { "if-match": etag } });
  return {
    origin: endpoint.origin,
    health: () => api.health.$get(),
    versions: (page: PageOptions) => body(api.policies.$get(queryOf(page))),
    version: (version: number) =>
      body(api.policies[":version"].$get({ param: { version: String(version) }, header: {} })),
    /** The version that the policy is, and whether this made it. */
    push: async (policy: Policy, note: string | undefined) => {
      const json = { policy, note };
      // The key is a hash of the content, so that a push whose answer was lost can be pushed again.
      const key = createHash("sha256").update(JSON.stringify(json)).digest("hex");
      const reply = await api.policies.$post({ json, header: { "idempotency-key": key } });
      return { ...(await reply.json()), isNew: reply.status === 201 };
    },
    /** The activation in force, and the ETag that a change of it must name. */
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
    history: (page: PageOptions) => body(activation.history.$get(queryOf(page))),
    activate: (json: NewActivation, etag: string) => body(activation.$put({ json, ...matching(etag) })),
    rollBack: (note: string | undefined, etag: string) =>
      body(activation.rollback.$post({ json: { note }, ...matching(etag) })),
    // In an incident the kill switch must work, whatever somebody else changed meanwhile.
    kill: (kind: KillSwitch, note: string | undefined) =>
      body<KillReply>(activation["kill-switch"].$put({ json: { kind, note }, ...matching("*") })),
    endKill: (etag: string) => body<KillReply>(activation["kill-switch"].$delete(matching(etag))),
    probe: () => body(api.probe.$get({ query: { answer: "nothing" } })),
    explain: (json: NewQuestion) => body(api.decisions.explain.$post({ json })),
    results: (version: number | undefined) => body(api.results.$get(ofVersion(version))),
    proposal: (version: number | undefined) => body(api.results.proposal.$get(ofVersion(version))),
    stats: (hours: number) => body(api.stats.$get({ query: { hours: String(hours) } })),
    extent: () => body(api.stats.store.$get({})),
    lookUp: (address: string): Promise<ClientRecord> => body(api.clients["look-up"].$post({ json: { address } })),
    forget: (address: string) => body(api.clients.forget.$post({ json: { address } })),
    audit: (page: PageOptions) => body(api.audit.$get(queryOf(page))),
  };
}

async function body<T>(reply: Promise<{ json(): Promise<T> }>): Promise<T> {
  return (await reply).json();
}

function ofVersion(version: number | undefined) {
  return { query: { version: version?.toString() } };
}

function queryOf({ limit, before }: PageOptions) {
  return { query: { limit: limit?.toString(), before: before?.toString() } };
}
