import type { Answer } from "../policy-api/core/offers.ts";
import type { PathSample } from "../policy-api/core/sample.ts";
import { PolicyCache } from "./policy-cache.ts";
import { ReportBuffer } from "./report-buffer.ts";
import type { Settings } from "./settings.ts";
import type { StoredClient, Stores } from "./stores.ts";

/**
 * What the requests of an isolate share. Plain data only: a promise or a stream belongs to the request that made it.
 */
export class Isolate {
  readonly settings: Settings;
  readonly policyCache = new PolicyCache();
  readonly reports = new ReportBuffer();

  constructor(settings: Settings) {
    this.settings = settings;
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
