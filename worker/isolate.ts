import type { Recorded } from "../durable/client-report.ts";
import { keyOf, type Labels } from "../policy-api/api/counters/families.ts";
import { Counters, type ReportFate } from "./counters.ts";
import { Counts } from "./counts.ts";
import { Hasher } from "./hasher.ts";
import { type HeldBundle, PolicyCache } from "./policy-cache.ts";
import { type ClientNews, ReportBuffer } from "./report-buffer.ts";
import type { Nearby } from "./nearby.ts";
import { OriginReach } from "./origin-reach.ts";
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
  readonly policyCache = new PolicyCache(this.kill);
  readonly storeHealth = new StoreHealth();
  /** What the TLS edge said last about its HTTP/3. */
  edgeHttp3: { readonly state: "ok" | "down" | "off"; readonly atMs: number } | undefined;
  readonly origin = new OriginReach();
  readonly reports = new ReportBuffer();
  readonly recent = new RecentClients();
  /** Undefined where no other isolate is near. */
  readonly nearby: Nearby | undefined;
  /** What became of pages' own reports. Plain numbers, for whoever wants to show them. */
  readonly reportCounts = new Counts<ReportFate>();
  /** What this isolate did, until the store knows it. */
  readonly counters: Counters;

  #namer: Hasher | undefined;

  constructor(settings: Settings, nearby?: Nearby) {
    this.settings = settings;
    this.nearby = nearby;
    this.counters = new Counters(settings.tellCountsMs, [
      {
        counts: this.reportCounts,
        key: (fate) => keyOf("reports", { fate: fate as Labels<"reports">["fate"] }),
      },
      {
        counts: this.reports.dropped,
        key: (cause) => keyOf("news_dropped", { cause: cause as Labels<"news_dropped">["cause"] }),
      },
    ]);
  }

  /** Tells what was counted when that is due; undefined if another request has promised to. Never rejects. */
  tellCounts(stores: Stores, region: Region, nowMs: number): Promise<void> | undefined {
    const waitMs = this.counters.due(nowMs);
    if (waitMs === undefined) return undefined;
    const tell = async (): Promise<void> =>
      this.counters.tell((to, delta) => stores.count(to, delta), region, nowMs + waitMs);
    return waitMs > 0 ? scheduler.wait(waitMs).then(tell) : tell();
  }

  /**
   * What names clients: a hasher with the deployment's CLIENT_KEY, where there is one, else with the store's key. Undefined until
   * the store has answered once.
   */
  namer(held: HeldBundle | undefined): Hasher | undefined {
    const { clientKey } = this.settings;
    if (clientKey === undefined) return held?.hasher;
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
      if (this.kill.held === kill && this.policyCache.storedRevision === revision) this.kill.settle();
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
      // For a moment of a deployment an object may be of the version before, which says nothing.
      const recorded: Recorded | undefined = await stores.record(object, reports);
      this.reportCounts.add("replayed", recorded?.replayed ?? 0);
      this.reportCounts.add("crowded", recorded?.crowded ?? 0);
    });
  }
}
