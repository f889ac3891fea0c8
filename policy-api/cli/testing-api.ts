import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { type Activation, type ActivationChange, changed, INITIAL_ACTIVATION, versionsOf } from "../core/activation.ts";
import { altSvcValue } from "../core/alt-svc.ts";
import { decide } from "../core/decide.ts";
import type { History, RequestFacts } from "../core/facts.ts";
import { parsePolicy } from "../core/parse-policy.ts";
import { INITIAL_POLICY, type Policy } from "../core/policy.ts";

// The API as its contract tells it, in memory, over a real socket.

export const TOKENS = { write: "writer-secret", read: "reader-secret" } as const;
/** When everything that it has was made. */
export const MADE_MS = Date.parse("2026-11-21T10:00:00.250Z");

/** What the API says of 192.0.2.7. */
const KNOWN_CLIENT = {
  known: true,
  client: {
    tcp: { packets: 25.9, ageMs: 13_016, minRttMs: 40, lossRatio: 0.025, deliveryRateBps: 2_500_000 },
    quic: { packets: 0, ageMs: 60_000, minRttMs: 41.5 },
  },
  network: { tcp: { packets: 1_200, ageMs: 500 } },
  offers: { untilMs: MADE_MS, answeredAtMs: MADE_MS, offering: true, takenAtMs: 0, ignoredAtMs: [MADE_MS - 60_000] },
};

export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

export interface Canned {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FakeApi {
  readonly url: string;
  /** Requests in their order. */
  readonly requests: Recorded[];
  /** What was asked, as `METHOD path`. */
  asked(): string[];
  /** Answers in the place of the API; undefined: the API does. */
  instead: ((request: Recorded) => Canned | undefined | Promise<Canned | undefined>) | undefined;
  /** What somebody else does meanwhile. */
  change(change: ActivationChange, author?: string): void;
  current(): Activation;
  close(): Promise<void>;
}

const problem = (status: number, title: string, detail: string, more: object = {}): Canned => ({
  status,
  body: { type: "about:blank", title, status, detail, ...more },
  headers: { "content-type": "application/problem+json" },
});

export async function startFakeApi(tls?: { readonly cert: string; readonly key: string }): Promise<FakeApi> {
  const versions: { readonly policy: Policy; readonly note: string | null; readonly author: string }[] = [];
  const activations: Activation[] = [INITIAL_ACTIVATION];
  const keys = new Map<string, string>();
  const audit: object[] = [];
  const current = (): Activation => activations.at(-1) ?? INITIAL_ACTIVATION;
  const record = (actor: string, action: string, more: object): void =>
    void audit.push({ id: audit.length + 1, at: time(), actor, action, ...more });

  function change(to: ActivationChange, author = "somebody", note: string | null = null): boolean {
    const next = changed(current(), to, (revision) => activations[revision]);
    if (next === undefined) return false;
    activations.push({ ...next, revision: activations.length, author, note, atMs: MADE_MS });
    const { everyone, stages, killSwitch } = current();
    const activation = { everyone, stages, killSwitch };
    record(author, `activation.${to.kind}`, { revision: current().revision, activation, note });
    return true;
  }

  function answer({ method, path, headers, body }: Recorded): Canned {
    const [resource = "", search = ""] = path.replace("/_h3/v1", "").split("?");
    const query = new URLSearchParams(search);
    if (resource === "/health") return ok({ status: "ok", policy: "ok", revision: current().revision, settings: [] });
    const token = headers.authorization?.replace("Bearer ", "");
    const scope = token === TOKENS.write ? "write" : token === TOKENS.read ? "read" : undefined;
    if (scope === undefined) return problem(401, "Unauthorized", "This token is not known.");
    const reads = method === "GET" || resource.startsWith("/decisions") || resource.endsWith("/look-up");
    if (!reads && scope === "read") return problem(403, "Forbidden", "This token may only read.");
    const given = (body ?? {}) as Record<string, unknown>;
    const note = (given["note"] ?? null) as string | null;
    const changing = (to: ActivationChange): Canned => {
      const match = headers["if-match"];
      const { revision } = current();
      if (match === undefined) return problem(428, "Precondition Required", "If-Match is missing.");
      if (match !== "*" && match !== `"r${revision}"`)
        return problem(412, "Precondition Failed", "The activation is another by now.", {
          current: { revision, etag: `"r${revision}"` },
        });
      return change(to, "writer", note)
        ? ok(shown(current()))
        : problem(409, "Conflict", "There is nothing to go back to.");
    };
    switch (`${method} ${resource}`) {
      case "GET /policies": {
        const page = paged(
          versions.map((_, i) => i + 1),
          query,
        );
        return ok({ policies: page.items.map((version) => summary(version)), next: page.next });
      }
      case "POST /policies":
        return create(given["policy"], note, headers["idempotency-key"] as string | undefined, JSON.stringify(body));
      case "GET /activation":
        return { ...ok(shown(current())), headers: { etag: `"r${current().revision}"` } };
      case "GET /activation/history": {
        const page = paged(
          activations.map(({ revision }) => revision),
          query,
        );
        return ok({ activations: page.items.map((i) => shown(activations[i] ?? current())), next: page.next });
      }
      case "PUT /activation": {
        const { everyone, stages } = given as unknown as Activation;
        const missing = versionsOf({ everyone, stages, killSwitch: null }).filter((v) => v > versions.length);
        return missing.length > 0
          ? problem(422, "Unprocessable Content", "It does not hold together.", {
              faults: [{ pointer: "/everyone", message: `there is no version ${missing.join(", ")}` }],
            })
          : changing({ kind: "put", everyone, stages });
      }
      case "POST /activation/rollback":
        return changing({ kind: "rollback" });
      case "PUT /activation/kill-switch":
        return changing({ kind: "kill-switch", to: given["kind"] as Activation["killSwitch"] });
      case "DELETE /activation/kill-switch":
        return changing({ kind: "kill-switch", to: null });
      case "POST /decisions/explain":
        return explain(given);
      case "POST /clients/look-up":
        return ok(given["address"] === "192.0.2.7" ? KNOWN_CLIENT : { known: false });
      case "POST /networks/look-up":
        return ok({ known: true, network: KNOWN_CLIENT.network });
      case "POST /clients/forget":
      case "POST /networks/forget":
        return ok({ forgotten: given["address"] === "192.0.2.7" ? 1 : 0 });
      case "GET /audit": {
        const page = paged(
          audit.map((_, i) => i + 1),
          query,
        );
        return ok({ entries: page.items.map((id) => audit[id - 1]), next: page.next });
      }
    }
    const version = /^GET \/policies\/(\d+)$/.exec(`${method} ${resource}`)?.[1];
    if (version !== undefined && Number(version) <= versions.length)
      return ok({ ...summary(Number(version)), policy: policyOf(Number(version)) });
    return problem(404, "Not Found", `There is no ${resource}.`);
  }

  function policyOf(version: number): Policy {
    return versions[version - 1]?.policy ?? INITIAL_POLICY;
  }

  function summary(version: number): object {
    const policy = policyOf(version);
    return {
      version,
      contentHash: createHash("sha256").update(JSON.stringify(policy)).digest("hex"),
      author: versions[version - 1]?.author ?? "initial",
      note: versions[version - 1]?.note ?? null,
      createdAt: version === 0 ? time(0) : time(),
      mode: policy.mode,
      source: policy.source ?? null,
    };
  }

  function create(input: unknown, note: string | null, key: string | undefined, body: string): Canned {
    const parsed = parsePolicy(input);
    if (!parsed.ok) return problem(400, "Bad Request", "The policy is not valid.", { faults: parsed.faults });
    if (key !== undefined && (keys.get(key) ?? body) !== body)
      return problem(422, "Unprocessable Content", "This Idempotency-Key came with another body.");
    if (key !== undefined) keys.set(key, body);
    const there = versions.findIndex(({ policy }) => JSON.stringify(policy) === JSON.stringify(parsed.value)) + 1;
    if (there > 0) return ok({ ...summary(there), policy: policyOf(there) });
    versions.push({ policy: parsed.value, note, author: "writer" });
    record("writer", "policy.create", { version: versions.length, note });
    return { ...ok({ ...summary(versions.length), policy: parsed.value }), status: 201 };
  }

  function explain(question: {
    readonly request?: RequestFacts;
    readonly history?: History;
    readonly client?: string;
    readonly policy?: unknown;
    readonly version?: number;
  }): Canned {
    const { request = { transport: "tcp", path: "/" }, version, policy: input, client } = question;
    const known: History = {
      state: "known",
      client: { tcp: { lossRatio: 0.03, packets: 5_000, minRttMs: 40, ageMs: 1 } },
    };
    const history = client === undefined ? (question.history ?? { state: "unknown" as const }) : known;
    const parsed = parsePolicy(input);
    const stored = version ?? current().everyone;
    const decision = decide(request, history, parsed.ok ? parsed.value : policyOf(stored), MADE_MS, 1);
    return ok({
      policyVersion: parsed.ok ? null : stored,
      revision: parsed.ok || version !== undefined ? null : current().revision,
      request,
      history,
      decision,
      altSvc: altSvcValue(decision.advertise, 443) ?? null,
    });
  }

  const fake: FakeApi = {
    url: "",
    requests: [],
    asked: () => fake.requests.map(({ method, path }) => `${method} ${path.replace("/_h3/v1", "")}`),
    instead: undefined,
    change: (to, author) => void change(to, author),
    current,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  const listener: RequestListener = (incoming, outgoing) => {
    void (async () => {
      const { method = "", url = "", headers } = incoming;
      const body = headers["content-length"] === undefined ? undefined : await json(incoming);
      const request: Recorded = { method, path: url, headers, body };
      fake.requests.push(request);
      const { status, headers: more = {}, body: sent } = (await fake.instead?.(request)) ?? answer(request);
      outgoing.writeHead(status, { "content-type": "application/json", "cache-control": "no-store", ...more });
      outgoing.end(typeof sent === "string" ? sent : JSON.stringify(sent));
    })();
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer({ ...tls }, listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return Object.assign(fake, {
    url: tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`,
  });
}

function ok(body: unknown): Canned {
  return { status: 200, body };
}

function time(ms = MADE_MS): string {
  return new Date(ms).toISOString();
}

function shown({ atMs, ...rest }: Activation): object {
  return { ...rest, at: time(atMs) };
}

/** Numbers in increasing order as a page of the newest. */
function paged(numbers: readonly number[], query: URLSearchParams): { items: readonly number[]; next: number | null } {
  const limit = Number(query.get("limit") ?? 20);
  const before = Number(query.get("before") ?? Number.POSITIVE_INFINITY);
  const all = numbers.filter((number) => number < before).toReversed();
  const items = all.slice(0, limit);
  return { items, next: all.length > limit ? (items.at(-1) ?? null) : null };
}
