import type { ClientKeys } from "../durable/path-store-api.ts";
import type { Answer } from "../policy-api/core/offers.ts";
import type { PathSample } from "../policy-api/core/sample.ts";
import { PolicyCache } from "./policy-cache.ts";
import { ReportBuffer } from "./report-buffer.ts";
import type { Settings } from "./settings.ts";
import type { PathObject, Stores } from "./stores.ts";

/** What lives as long as the isolate, and is shared by its requests: plain data only, no promise and no stream. */
export class Isolate {
  readonly settings: Settings;
  readonly policyCache = new PolicyCache();
  readonly reports = new ReportBuffer();

  constructor(settings: Settings) {
    this.settings = settings;
  }

  /** Keeps what a request learnt about a client, and flushes the object's share when it is due. Never rejects. */
  async report(
    stores: Stores,
    object: PathObject,
    keys: ClientKeys,
    news: { sample?: PathSample; answer?: Answer },
    nowMs: number,
  ): Promise<void> {
    const waitMs = this.reports.add(object.name, keys, news, nowMs);
    if (waitMs === undefined) return;
    // At the least until the caller's loop is through: a batch of samples leaves as one.
    await (waitMs > 0 ? scheduler.wait(waitMs) : Promise.resolve());
    await this.reports.flush(object.name, nowMs + waitMs, (reports) => stores.record(object, reports));
  }
}
