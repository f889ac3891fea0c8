import type { ClientKeys, ClientReport } from "../durable/client-report.ts";
import type { Answer } from "../policy-api/core/offers.ts";
import type { PathSample } from "../policy-api/core/sample.ts";

/** An isolate calls an object at most once in this time, milliseconds. */
export const GATHER_MS = 10_000;
/** A flush that is this late has died with its request, and another may begin, milliseconds. */
const FLUSH_LOST_MS = 10_000;
/**
 * Clients in an isolate's buffer, for all objects, and readings per client: at most 26 MB of the isolate's 128. Of more
 * readings the newest stay, which say enough about one path. If more clients come, the most crowded network gives up
 * those of its clients who have told least.
 */
const CLIENTS_MAX = 2_000;
const READINGS_MAX = 64;
/** Clients of one network: of more, the first stay. A network that shows new ones without end fills only this. */
const NETWORK_CLIENTS_MAX = CLIENTS_MAX / 8;

/** What this isolate knows about a client, and the object may not know. */
export interface PendingNews {
  readonly samples: readonly PathSample[];
  readonly answers: readonly Answer[];
}

export const NO_NEWS: PendingNews = { samples: [], answers: [] };

interface ClientNews {
  readonly keys: ClientKeys;
  readonly samples: PathSample[];
  readonly answers: Answer[];
}

type Gathering = Map<string, ClientNews>;

interface ObjectBuffer {
  gathering: Gathering;
  /** How many of the gathering's clients each network has. */
  networks: Map<string, number>;
  /** On its way to the object, which may not have it yet. */
  inFlight: Gathering | undefined;
  lastFlushMs: number;
  /** Until when a flush that was promised may still come. */
  scheduledUntilMs: number;
}

/**
 * What this isolate has learnt and not yet told the objects. Decisions read it too, because a client's next navigation
 * may come before the next flush.
 */
export class ReportBuffer {
  readonly #objects = new Map<string, ObjectBuffer>();

  /**
   * Adds a reading or an answer.
   *
   * @returns how long the caller has to wait before it calls `flush`; undefined if another caller will do that.
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
      const neighbours = buffer.networks.get(keys.network) ?? 0;
      if (neighbours >= NETWORK_CLIENTS_MAX) return undefined;
      if (this.#clients() >= CLIENTS_MAX && !this.#makeRoom(neighbours)) return undefined;
      client = { keys: { ...keys }, samples: [], answers: [] };
      put(buffer, keys.client, client);
    }
    if (news.sample !== undefined) keepNewest(client.samples, news.sample);
    if (news.answer !== undefined) keepNewest(client.answers, news.answer);
    // A time that is farther ahead is from before the clock was set back.
    const isAhead = (ms: number, most: number): boolean => nowMs < ms && ms <= nowMs + most;
    if (isAhead(buffer.scheduledUntilMs, GATHER_MS + FLUSH_LOST_MS)) return undefined;
    const dueMs = buffer.lastFlushMs + GATHER_MS;
    const waitMs = isAhead(dueMs, GATHER_MS) ? dueMs - nowMs : 0;
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
   * Hands everything that was gathered for an object to `send`. Never rejects: if the object does not take it, it waits
   * for the next flush, within the same bounds.
   */
  async flush(object: string, nowMs: number, send: (reports: readonly ClientReport[]) => Promise<void>): Promise<void> {
    const buffer = this.#of(object);
    const reports = buffer.gathering;
    buffer.gathering = new Map();
    buffer.networks = new Map();
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

  /**
   * The most crowded network gives up half of what it has more than a newcomer's, but those who have told most.
   *
   * @param neighbours How many clients the newcomer's network has.
   * @returns whether there is room now.
   */
  #makeRoom(neighbours: number): boolean {
    let crowded: { buffer: ObjectBuffer; network: string; clients: number } | undefined;
    for (const buffer of this.#objects.values())
      for (const [network, clients] of buffer.networks)
        if (clients > (crowded?.clients ?? neighbours + 1)) crowded = { buffer, network, clients };
    if (crowded === undefined) return false;
    const { buffer, network, clients } = crowded;
    const told = [...buffer.gathering]
      .filter(([, { keys }]) => keys.network === network)
      .toSorted(([, one], [, other]) => one.samples.length - other.samples.length);
    const leaving = told.slice(0, Math.ceil((clients - neighbours) / 2));
    for (const [name] of leaving) buffer.gathering.delete(name);
    buffer.networks.set(network, clients - leaving.length);
    return true;
  }

  /** Clients in the buffer or on their way, for all objects. */
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
        networks: new Map(),
        inFlight: undefined,
        lastFlushMs: Number.NEGATIVE_INFINITY,
        scheduledUntilMs: 0,
      };
      this.#objects.set(object, buffer);
    }
    return buffer;
  }
}

/** Puts reports back, in front of those that were gathered since. */
function putBack(buffer: ObjectBuffer, reports: Gathering): void {
  for (const [name, { keys, samples, answers }] of reports) {
    const since = buffer.gathering.get(name);
    put(buffer, name, {
      keys,
      samples: [...samples, ...(since?.samples ?? [])].slice(-READINGS_MAX),
      answers: [...answers, ...(since?.answers ?? [])].slice(-READINGS_MAX),
    });
  }
}

function put(buffer: ObjectBuffer, name: string, news: ClientNews): void {
  const { network } = news.keys;
  if (!buffer.gathering.has(name)) buffer.networks.set(network, (buffer.networks.get(network) ?? 0) + 1);
  buffer.gathering.set(name, news);
}

function keepNewest<T>(readings: T[], reading: T): void {
  if (readings.length >= READINGS_MAX) readings.shift();
  readings.push(reading);
}
