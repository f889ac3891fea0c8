import { createHash } from "node:crypto";
import type { KillSwitch, Stage } from "../core/activation.ts";
import type { Policy } from "../core/policy.ts";
import { ask, type Ask, type Reply } from "./client.ts";
import {
  type Activation,
  type ActivationPage,
  type AuditPage,
  type Explanation,
  type Forgotten,
  type Health,
  isActivation,
  isActivationPage,
  isAuditPage,
  isExplanation,
  isForgotten,
  isHealth,
  isKnown,
  isPolicyPage,
  isPolicyVersion,
  isStoredPolicy,
  type Known,
  type PolicyPage,
  type PolicyVersion,
  type StoredPolicy,
} from "./contract.ts";
import type { Endpoint } from "./endpoint.ts";
import { EXIT, Failure } from "./failure.ts";

/** What is in force, and the tag that a change of it must name. */
export interface TaggedActivation {
  readonly activation: Activation;
  readonly etag: string;
}

export interface PageQuery {
  readonly limit?: number | undefined;
  readonly before?: number | undefined;
}

/** The calls of the API. All reject with a Failure. */
export interface Api {
  readonly origin: string;
  health(): Promise<Reply<Health>>;
  versions(page: PageQuery): Promise<PolicyPage>;
  version(version: number): Promise<StoredPolicy>;
  push(policy: Policy, note: string | undefined): Promise<Reply<PolicyVersion>>;
  activation(): Promise<TaggedActivation>;
  history(page: PageQuery): Promise<ActivationPage>;
  activate(change: ActivationBody, etag: string): Promise<Activation>;
  rollBack(note: string | undefined, etag: string): Promise<Activation>;
  kill(kind: KillSwitch, note: string | undefined): Promise<Activation>;
  endKill(etag: string): Promise<Activation>;
  explain(question: unknown): Promise<Explanation>;
  lookUp(what: "clients" | "networks", address: string): Promise<Known>;
  forget(what: "clients" | "networks", address: string): Promise<Forgotten>;
  audit(page: PageQuery): Promise<AuditPage>;
}

export interface ActivationBody {
  readonly everyone: number;
  readonly stages: readonly Stage[];
  readonly note?: string | undefined;
}

export function connect(endpoint: Endpoint): Api {
  const call = async <T>(question: Ask): Promise<T> => (await ask<T>(endpoint, question)).body;
  const change = async (method: Ask["method"], path: string, ifMatch: string, body?: unknown): Promise<Activation> =>
    call({ method, path, body, headers: { "if-match": ifMatch }, is: isActivation, changes: true });
  return {
    origin: endpoint.origin,
    health: () => ask(endpoint, { method: "GET", path: "/health", is: isHealth, isPublic: true, alsoGood: [503] }),
    versions: (page) => call({ method: "GET", path: `/policies${query(page)}`, is: isPolicyPage }),
    version: (version) => call({ method: "GET", path: `/policies/${version}`, is: isStoredPolicy }),
    push: (policy, note) => {
      const body = { policy, note };
      // Of the content: whoever does not know whether a push arrived can push again.
      const key = createHash("sha256").update(JSON.stringify(body)).digest("hex");
      const headers = { "idempotency-key": key };
      return ask(endpoint, { method: "POST", path: "/policies", body, headers, is: isPolicyVersion, changes: true });
    },
    activation: async () => {
      const reply = await ask<Activation>(endpoint, { method: "GET", path: "/activation", is: isActivation });
      if (reply.etag === undefined)
        throw new Failure(
          EXIT.unreachable,
          `${endpoint.origin} sends no ETag: does something in front of it remove it?`,
        );
      return { activation: reply.body, etag: reply.etag };
    },
    history: (page) => call({ method: "GET", path: `/activation/history${query(page)}`, is: isActivationPage }),
    activate: (body, etag) => change("PUT", "/activation", etag, body),
    rollBack: (note, etag) => change("POST", "/activation/rollback", etag, { note }),
    // In an incident what somebody else changed meanwhile is no reason to wait.
    kill: (kind, note) => change("PUT", "/activation/kill-switch", "*", { kind, note }),
    endKill: (etag) => change("DELETE", "/activation/kill-switch", etag),
    explain: (body) => call({ method: "POST", path: "/decisions/explain", body, is: isExplanation }),
    lookUp: (what, address) => call({ method: "POST", path: `/${what}/look-up`, body: { address }, is: isKnown }),
    forget: (what, address) =>
      call({ method: "POST", path: `/${what}/forget`, body: { address }, is: isForgotten, changes: true }),
    audit: (page) => call({ method: "GET", path: `/audit${query(page)}`, is: isAuditPage }),
  };
}

function query({ limit, before }: PageQuery): string {
  const given = Object.entries({ limit, before }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  );
  return given.length === 0 ? "" : `?${given.join("&")}`;
}
