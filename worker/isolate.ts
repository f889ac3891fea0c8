import { Counters } from "./counters.ts";
import { Hasher } from "./hasher.ts";
import type { ClientNews } from "./news.ts";
import type { UdpBuffers } from "../policy-api/api/ports.ts";
import { type CachedPolicy, PolicyCache } from "./policy-cache.ts";
import { ReportBuffer } from "./report-buffer.ts";
import type { Nearby } from "./nearby.ts";
import { OriginReach } from "./origin.ts";
import { RecentClients } from "./recent-clients.ts";
import type { Region } from "./region.ts";
import { StoreHealth } from "./store-health.ts";
import { KillHold } from "./unstored-kill.ts";
import type { Settings } from "./settings.ts";
import type { PathObject, StoredClient, Stores } from "./stores.ts";

/**
 * What the requests of an isolate share. Plain data only: a promise or a stream belongs to the request that made it.
 */
export class Isolate {
  readonly settings: Settings;
  /** What the store could not take. */
  readonly kill = new KillHold();
  readonly policyCache: PolicyCache;
  readonly storeHealth = new StoreHealth();
  /** What the TLS edge said last about its HTTP/3. */
  edgeHttp3: { readonly state: "ok" | "down" | "off" | "unknown"; readonly atMs: number } = {
    state: "unknown",
    atMs: 0,
  };
  /** The smallest buffers of the TLS edge's UDP sockets, as it said last, bytes. Null: it said nothing. */
  udpBuffers: UdpBuffers | null = null;
  readonly origin = new OriginReach();
  /** What this isolate did. */
  readonly counters: Counters;
  readonly reports: ReportBuffer;
  readonly recent = new RecentClients();
  /** Undefined where no other isolate is near. */
  readonly nearby: Nearby | undefined;
  #namer: Hasher | undefined;

  constructor(settings: Settings, nearby?: Nearby) {
    this.settings = settings;
    this.nearby = nearby;
    const isBilled = settings.edge === "cloudflare";
    this.counters = new Counters(settings.flushCountsMs, isBilled);
    this.reports = new ReportBuffer(this.counters, isBilled);
    this.policyCache = new PolicyCache(this.kill, nearby);
  }

  /** Sends the region's object what was counted, after the response, if that is due and no other request has promised it. */
  flushCounts(
    { stores, ctx }: { stores: Stores; ctx: Pick<ExecutionContext, "waitUntil"> },
    region: Region,
    nowMs: number,
  ): void {
    const waitMs = this.counters.pace.promise(nowMs);
    if (waitMs === undefined) return;
    const flush = async (): Promise<void> => {
      if (waitMs > 0) await scheduler.wait(waitMs);
      if (this.counters.pace.isTakenOver(nowMs + waitMs)) return;
      await this.counters.flush((to, delta) => stores.count(to, delta), region, nowMs + waitMs);
    };
    ctx.waitUntil(flush());
  }

  /**
   * What names clients: a hasher with the deployment's CLIENT_KEY, where there is one, else with the store's key. Undefined until
   * the store has answered once.
   */
  namer(cached: CachedPolicy | undefined): Hasher | undefined {
    const { clientKey } = this.settings;
    if (clientKey === undefined) return cached?.hasher;
    return (this.#namer ??= new Hasher(clientKey));
  }

  /** Asks the store again to take a kill switch, if it is time. A later change of the switch settles it too. Never rejects. */
  async retryKill(stores: Pick<Stores, "storeKill" | "policyBundle">, nowMs: number): Promise<void> {
    const kill = this.kill.due(nowMs);
    if (kill === undefined) return;
    try {
      const revision = await stores.storeKill(kill);
      await this.policyCache.renew(stores, nowMs);
      // Without a gap: only once what the store has is held here.
      if (this.kill.unstored === kill && this.policyCache.storedRevision === revision) this.kill.settle();
    } catch {
      // It stays in force, and the next try comes.
    }
  }

  /** Keeps news about a client, and sends the object everything that waits for it when that is due. Never rejects. */
  async report(stores: Stores, { keys, object }: StoredClient, news: ClientNews, nowMs: number): Promise<void> {
    this.recent.add(keys.client, news);
    const waitMs = this.reports.add(object.name, keys, news, nowMs);
    if (waitMs === undefined) return;
    // Even without a wait: first the caller's loop ends, so that a batch of samples leaves in one RPC.
    await (waitMs > 0 ? scheduler.wait(waitMs) : Promise.resolve());
    await this.#flush(stores, object, nowMs + waitMs);
    // Once more, and not for ever: Cloudflare lets a request live for 30 s after its response.
    const againMs = this.reports.again(object.name, nowMs + waitMs);
    if (againMs === undefined) return;
    await scheduler.wait(againMs);
    await this.#flush(stores, object, nowMs + waitMs + againMs);
  }

  async #flush(stores: Stores, object: PathObject, nowMs: number): Promise<void> {
    await this.reports.flush(object.name, nowMs, async (reports) => {
      const { replayed, crowded } = await stores.record(object, reports);
      this.counters.add("reports", { fate: "replayed" }, replayed);
      this.counters.add("reports", { fate: "crowded" }, crowded);
    });
  }
}
