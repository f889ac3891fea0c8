import type { ClientKeys, ClientReport } from "../durable/path-store-api.ts";
import type { Answer } from "../policy-api/core/offers.ts";
import type { PathSample } from "../policy-api/core/sample.ts";

/** At most one RPC per object and isolate in this time, milliseconds. */
export const GATHER_MS = 10_000;
/** A flush that has not ended this long after it was due died with its request; another may begin, milliseconds. */
const FLUSH_LOST_MS = 10_000;
/**
 * Clients gathered in an isolate, for all objects, and readings per client: at most 26 MB of its 128. Of more readings the
 * newest stay, as they tell enough of one path; of more clients the first.
 */
const CLIENTS_MAX = 2_000;
const READINGS_MAX = 64;

/** What is known of a client in this isolate and may not be in the object. */
export interface PendingNews {
  readonly samples: readonly PathSample[];
  readonly answers: readonly Answer[];
}

export const NO_NEWS: PendingNews = { samples: [], answers: [] };

type Gathering = Map<string, { keys: ClientKeys; samples: PathSample[]; answers: Answer[] }>;

interface ObjectBuffer {
  gathering: Gathering;
  /** On its way to the object: still what this isolate knows and the object may not. */
  inFlight: Gathering | undefined;
  lastFlushMs: number;
  /** Until when a flush is expected to come by. */
  scheduledUntilMs: number;
}

/**
 * What this isolate has learnt and not yet told the objects. It is read, too: a client's next navigation comes sooner
 * than the next flush.
 */
export class ReportBuffer {
  readonly #objects = new Map<string, ObjectBuffer>();

  /**
   * Adds a reading or an answer.
   *
   * @returns how long to wait before calling `flush`, when the caller is the one who must; else undefined.
   */
  add(
    object: string,
    keys: ClientKeys,
    news: { sample?: PathSample; answer?: Answer },
    nowMs: number,
  ): number | undefined {
    const buffer = this.#of(object);
    let client = buffer.gathering.get(keys.client);
    if (client === undefined) {
      if (this.#clients() >= CLIENTS_MAX) return undefined;
      client = { keys: { ...keys }, samples: [], answers: [] };
      buffer.gathering.set(keys.client, client);
    }
    if (news.sample !== undefined) keepNewest(client.samples, news.sample);
    if (news.answer !== undefined) keepNewest(client.answers, news.answer);
    if (nowMs < buffer.scheduledUntilMs) return undefined;
    const waitMs = Math.max(0, buffer.lastFlushMs + GATHER_MS - nowMs);
    buffer.scheduledUntilMs = nowMs + waitMs + FLUSH_LOST_MS;
    return waitMs;
  }

  pending(object: string, client: string): PendingNews {
    const buffer = this.#objects.get(object);
    const inFlight = buffer?.inFlight?.get(client);
    const gathering = buffer?.gathering.get(client);
    return {
      samples: [...(inFlight?.samples ?? []), ...(gathering?.samples ?? [])],
      answers: [...(inFlight?.answers ?? []), ...(gathering?.answers ?? [])],
    };
  }

  /**
   * Hands everything gathered for an object to `send`. Never rejects: what an object does not take waits for the next
   * flush, within the same bounds.
   */
  async flush(object: string, nowMs: number, send: (reports: readonly ClientReport[]) => Promise<void>): Promise<void> {
    const buffer = this.#of(object);
    const reports = buffer.gathering;
    buffer.gathering = new Map();
    buffer.inFlight = reports;
    buffer.lastFlushMs = nowMs;
    buffer.scheduledUntilMs = 0;
    try {
      await send([...reports.values()].map(({ keys, samples, answers }) => ({ ...keys, samples, answers })));
    } catch {
      putBack(buffer, reports);
    }
    if (buffer.inFlight === reports) buffer.inFlight = undefined;
  }

  /** Clients gathered or on their way, over all objects. */
  #clients(): number {
    let count = 0;
    for (const { gathering, inFlight } of this.#objects.values()) count += gathering.size + (inFlight?.size ?? 0);
    return count;
  }

  #of(object: string): ObjectBuffer {
    let buffer = this.#objects.get(object);
    if (buffer === undefined) {
      buffer = {
        gathering: new Map(),
        inFlight: undefined,
        lastFlushMs: Number.NEGATIVE_INFINITY,
        scheduledUntilMs: 0,
      };
      this.#objects.set(object, buffer);
    }
    return buffer;
  }
}

/** Puts reports back before what has been gathered since. */
function putBack(buffer: ObjectBuffer, reports: Gathering): void {
  for (const [name, { keys, samples, answers }] of reports) {
    const since = buffer.gathering.get(name);
    buffer.gathering.set(name, {
      keys,
      samples: [...samples, ...(since?.samples ?? [])].slice(-READINGS_MAX),
      answers: [...answers, ...(since?.answers ?? [])].slice(-READINGS_MAX),
    });
  }
}

function keepNewest<T>(readings: T[], reading: T): void {
  if (readings.length >= READINGS_MAX) readings.shift();
  readings.push(reading);
}
