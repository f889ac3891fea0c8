import type { Answer } from "../policy-api/core/offers.ts";
import type { PathSample } from "../policy-api/core/sample.ts";
import { PolicyCache } from "./policy-cache.ts";
import { ReportBuffer } from "./report-buffer.ts";
import { StoreHealth } from "./store-health.ts";
import { KillHold } from "./unstored-kill.ts";
import type { Settings } from "./settings.ts";
import type { StoredClient, Stores } from "./stores.ts";

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
  readonly reports = new ReportBuffer();

  constructor(settings: Settings) {
    this.settings = settings;
  }

  /** Asks the store again to take a kill switch, if it is time. Never rejects. */
  async retryKill(stores: Pick<Stores, "storeKill" | "policyBundle">, nowMs: number): Promise<void> {
    const kill = this.kill.due(nowMs);
    if (kill === undefined) return;
    try {
      await stores.storeKill(kill);
      await this.policyCache.renew(stores, nowMs);
      // Without a gap: only once what was stored is held here.
      if (this.kill.held === kill && this.policyCache.hasStoredKill) this.kill.settle();
    } catch {
      // It stays in force, and the next try comes.
    }
  }

  /** Keeps news about a client, and sends the object everything that waits for it when that is due. Never rejects. */
  async report(
    stores: Stores,
    { keys, object }: StoredClient,
    news: { sample?: PathSample; answer?: Answer },
    nowMs: number,
  ): Promise<void> {
    const waitMs = this.reports.add(object.name, keys, news, nowMs);
    if (waitMs === undefined) return;
    // Even without a wait: first the caller's loop ends, so that a batch of samples leaves in one RPC.
    await (waitMs > 0 ? scheduler.wait(waitMs) : Promise.resolve());
    await this.reports.flush(object.name, nowMs + waitMs, (reports) => stores.record(object, reports));
  }
}
