// What the worker's tests share. Nothing that is deployed imports it.
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { afterEach, beforeEach, vi } from "vitest";
import type { ClientReport, RefusedPages } from "../durable/client-report.ts";
import type { PolicyBundle } from "../durable/policy-store.ts";
import type { InForce } from "../policy-api/decision/activation.ts";
import type { Remembered } from "../policy-api/decision/history.ts";
import { INITIAL_POLICY, type Policy } from "../policy-api/decision/policy.ts";
import { adaptivePolicy, GAINS } from "../policy-api/decision/testing.ts";
import { handleVisitor } from "./handler.ts";
import { Isolate } from "./isolate.ts";
import type { Delta } from "../policy-api/api/counters/counted.ts";
import type { Region } from "./region.ts";
import type { Settings } from "./settings.ts";
import type { PathObject, StoredClient, Stores } from "./stores.ts";
import type { UnstoredKill } from "./unstored-kill.ts";

export const SETTINGS: Settings = {
  origin: new URL("http://origin.test"),
  edge: "adaptive-h3",
  actuator: "header",
  budgetMs: 5,
  objectsPerRegion: 4,
  logDecisions: false,
  announceDecisions: false,
  flushCountsMs: 0,
  tokens: [],
  apiOrigins: [],
};

export const HASH_KEY = new Uint8Array(32).fill(7).buffer;

/** What our TLS edge says about a connection over HTTP/2. */
export const CF_H2 = {
  httpProtocol: "HTTP/2",
  clientTcpRtt: 40,
  clientAcceptEncoding: "",
  adaptiveH3: { connectionId: "c1", transport: "tcp", packetsSent: 3, packetsLost: 0, bytesSent: 4000 },
};
export const CF_H3 = { ...CF_H2, httpProtocol: "HTTP/3", clientTcpRtt: undefined, clientQuicRtt: 40 };

/** Revision 3, of version 3, for everyone. */
export function inForce(policy: Policy, over: Partial<InForce> = {}): InForce {
  return {
    revision: 3,
    sinceMs: 0,
    everyone: { version: 3, policy },
    stages: [],
    killSwitch: null,
    earlierOffersUntilMs: 0,
    ...over,
  };
}

/** Stores that give set answers, and note what they were asked. */
export class FakeStores implements Stores {
  readonly lookUps: StoredClient[] = [];
  readonly records: (readonly ClientReport[])[] = [];
  bundleCalls = 0;
  bundle: PolicyBundle | Error;
  reply: () => Promise<Remembered> = async () => ({});
  taken: () => Promise<void> = async () => undefined;

  constructor(policy: Policy | undefined) {
    this.bundle = policy === undefined ? { hashKey: HASH_KEY } : { inForce: inForce(policy), hashKey: HASH_KEY };
  }

  readonly kills: UnstoredKill[] = [];

  async storeKill(kill: UnstoredKill): Promise<number> {
    if (this.bundle instanceof Error) throw this.bundle;
    this.kills.push(kill);
    const { revision, killSwitch } = this.bundle.inForce ?? inForce(INITIAL_POLICY);
    return killSwitch === null ? revision + 1 : revision;
  }

  async lookUp(client: StoredClient): Promise<Remembered> {
    this.lookUps.push(client);
    return this.reply();
  }

  async record(_object: PathObject, reports: readonly ClientReport[]): Promise<RefusedPages> {
    this.records.push(reports);
    await this.taken();
    return { replayed: 0, crowded: 0 };
  }

  readonly flushed: Delta[] = [];

  async count(_region: Region, delta: Delta): Promise<void> {
    await this.taken();
    this.flushed.push(delta);
  }

  async policyBundle(heldRevision?: number): Promise<PolicyBundle | "unchanged"> {
    this.bundleCalls++;
    if (this.bundle instanceof Error) throw this.bundle;
    return heldRevision !== undefined && heldRevision === this.bundle.inForce?.revision ? "unchanged" : this.bundle;
  }
}

/**
 * Offers HTTP/3 to a client of whom nothing is known, for ten seconds: half of all clients are thought to lose packets. One
 * that shows no loss is offered nothing.
 */
export const H3_FIRST = adaptivePolicy({ method: { ...GAINS, mix: [0.5, 0.5] } });

export const mode = (name: Policy["mode"]): Policy => ({ ...INITIAL_POLICY, mode: name, ma: { minS: 60, maxS: 300 } });

export function navigation(cf: unknown = CF_H2, headers: Record<string, string> = {}): Request {
  return new Request("https://site.test:8443/page?a=1", {
    headers: { "sec-fetch-dest": "document", "cf-connecting-ip": "192.0.2.7", ...headers },
    cf: cf as never,
  });
}

/** A visit. `settled` resolves when everything behind its response has ended. */
export async function visit(
  request: Request,
  stores: Stores,
  isolate: Isolate = new Isolate(SETTINGS),
): Promise<{ response: Response; settled: Promise<void> }> {
  const ctx = createExecutionContext();
  const response = await handleVisitor(request, new URL(request.url), stores, ctx, isolate);
  return { response, settled: waitOnExecutionContext(ctx) };
}

class StubOrigin {
  /** The requests of this test. */
  readonly fetched: Request[] = [];
  answer: (request: Request) => Promise<Response> = answerPage;

  constructor() {
    beforeEach(() => {
      this.fetched.length = 0;
      this.answer = answerPage;
      vi.stubGlobal("fetch", (input: Request, init?: RequestInit) => {
        const request = new Request(input, init);
        this.fetched.push(request);
        return this.answer(request);
      });
    });
    afterEach(() => {
      vi.unstubAllGlobals();
    });
  }
}

/** Stands in for the origin in each test of the file that calls this. */
export function stubOrigin(): StubOrigin {
  return new StubOrigin();
}

/** The headers of the stub's page. */
export const PAGE_HEADERS = { "content-type": "text/html", "x-own": "1", "cache-control": "public, max-age=60" };

const answerPage = async (): Promise<Response> => new Response("page", { headers: PAGE_HEADERS });

/** A store that never answers, and one that refuses. */
export const never = (): Promise<never> => new Promise<never>(() => undefined);
export const fails = (): Promise<never> => Promise.reject(new Error("object is overloaded"));

/** In each test of the file that calls this, what is gathered leaves at once. A page still waits for as long as its look-up takes. */
export function withoutGathering(): void {
  beforeEach(() => {
    const wait = scheduler.wait.bind(scheduler);
    vi.stubGlobal("scheduler", { wait: (ms: number) => (ms > 1_000 ? Promise.resolve() : wait(ms)) });
  });
  afterEach(() => {
    vi.unstubAllGlobals();
  });
}

/** A clock that moves only by `advance`, for Date and for the worker's waits. */
export class VirtualTime {
  readonly #waits: { atMs: number; resolve: () => void }[] = [];

  constructor() {
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.stubGlobal("scheduler", {
      wait: (ms: number) =>
        new Promise<void>((resolve) => {
          this.#waits.push({ atMs: Date.now() + ms, resolve });
        }),
    });
  }

  /** When the next wait ends, in Unix milliseconds. */
  get nextMs(): number {
    return Math.min(...this.#waits.map(({ atMs }) => atMs));
  }

  advance(ms: number): void {
    vi.setSystemTime(Date.now() + ms);
    for (const wait of this.#waits.filter((w) => w.atMs <= Date.now())) {
      this.#waits.splice(this.#waits.indexOf(wait), 1);
      wait.resolve();
    }
  }
}

/** The real stores, with each call counted. */
export function counted(stores: Stores): {
  stores: Stores;
  counts: Record<keyof Stores, number>;
  objects: Set<string>;
  /** Resolves when no call is under way. A virtual clock that does not wait for this may outrun them, and they count as lost. */
  answered: () => Promise<void>;
} {
  const counts = { lookUp: 0, record: 0, count: 0, policyBundle: 0, storeKill: 0 };
  const objects = new Set<string>();
  const underWay = new Set<Promise<unknown>>();
  const call = <T>(name: keyof Stores, answer: Promise<T>): Promise<T> => {
    counts[name]++;
    underWay.add(answer);
    const end = (): void => void underWay.delete(answer);
    answer.then(end, end);
    return answer;
  };
  return {
    counts,
    objects,
    answered: async () => {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
    stores: {
      lookUp: (client) => call("lookUp", stores.lookUp(client)),
      record: (object, reports) => {
        objects.add(object.name);
        return call("record", stores.record(object, reports));
      },
      count: (region, delta) => call("count", stores.count(region, delta)),
      policyBundle: (heldRevision) => call("policyBundle", stores.policyBundle(heldRevision)),
      storeKill: (kill) => call("storeKill", stores.storeKill(kill)),
    },
  };
}
